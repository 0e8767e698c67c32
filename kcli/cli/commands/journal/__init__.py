"""The journal of changes: what was changed, and undoing it."""
