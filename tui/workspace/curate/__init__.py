"""The memories with their facts, and changes of them."""
