"""Quality of memories, shared by screens and commands: findings, approval, ratings by a model."""
