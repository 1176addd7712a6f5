"""Looking at everything that the hook needs, and saying how to mend what is wrong. Nothing here costs money."""
