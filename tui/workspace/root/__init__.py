"""What is known of the root that a workspace has open: its prompts, labels, injections and report."""
