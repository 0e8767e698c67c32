"""The topics that a pipeline reads."""
