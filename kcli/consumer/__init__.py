"""The consumer: cursors, fetchers, positions and groups."""
