"""The quality judge: a model rates memories by a rubric. A rating is a suggestion until a person decides."""
