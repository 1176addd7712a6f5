"""The models that a judge can ask. A provider turns a Question and a time limit into a Completion."""
