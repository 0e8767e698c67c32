"""`kcli pipeline run`: a pipeline in a file."""
