"""Where a judge's answer comes from. Each provider turns a Question and a time limit into a Completion."""
