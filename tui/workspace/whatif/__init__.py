"""What other settings would have injected for the labelled prompts, computed without a screen."""
