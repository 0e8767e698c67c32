"""Groups of every kind: listed, described, deleted; their committed offsets, changed from outside."""
