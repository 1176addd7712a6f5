"""From labels to the model of the cutoff: examples, weights and thresholds."""
