"""Finding memories: tokens, queries, the index, ranking, and what to do without FTS5."""
