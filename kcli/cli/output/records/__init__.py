"""Records as lines, templates and JSON."""
