"""Reading: cursors, fetchers, positions, and groups."""
