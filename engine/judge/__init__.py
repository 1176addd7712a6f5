"""The judge: one call per prompt that says which candidates are worth injecting."""
