"""Commands about labels and about the numbers that follow from them."""
