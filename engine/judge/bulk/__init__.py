"""Judging many prompts: retries, a cost limit, and batches that survive the process. Never for the hook."""
