"""The memories with their facts, the findings about them, and changes of them."""
