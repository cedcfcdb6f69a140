"""What a user sees of the commands before any is run: lists, helps with examples, versions."""
