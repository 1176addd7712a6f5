"""Commands that list memories, change them, and take changes back."""
