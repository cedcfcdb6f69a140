"""The feed ingestion job: bodies are fetched, spooled, landed, and read into items."""
