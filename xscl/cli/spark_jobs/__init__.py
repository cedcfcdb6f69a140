"""What the commands that run on Spark share: options, a start aside from signals, an end."""
