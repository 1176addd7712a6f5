"""From labels to the cutoff's model: which examples, which weights, which thresholds."""
