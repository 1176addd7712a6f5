"""Whether what is injected is relevant often enough, and whether a judge would pay."""
