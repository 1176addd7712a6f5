"""Finding memories: see README.md."""
