"""A pipeline's run: its options, Spark's session, progress, Ctrl-C."""
