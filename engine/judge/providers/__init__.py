"""Where a judge's answer comes from. Each provider turns (system, user, schema, deadline) into a Completion."""
