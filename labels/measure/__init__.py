"""Numbers: what systems did with prompts, against what people said."""
