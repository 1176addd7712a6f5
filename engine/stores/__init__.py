"""Where memories live: one module per format, and the rule that finds a root."""
