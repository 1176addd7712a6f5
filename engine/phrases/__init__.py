"""The phrases by which memories are asked for: their file beside the memories."""
