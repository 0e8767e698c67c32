"""Where a pipeline writes to: a topic, files, the terminal."""
