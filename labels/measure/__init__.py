"""Numbers from labels: see README.md."""
