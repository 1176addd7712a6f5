"""The judge: a model that says which candidates of a prompt are worth injecting. See README.md."""
