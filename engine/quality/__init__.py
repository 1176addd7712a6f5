"""What keeps a root of memories good: checks without a model, and a model that rates memories."""
