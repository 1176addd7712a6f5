"""Labelling without a screen: what is asked next, what was said, and how many labels are still needed."""
