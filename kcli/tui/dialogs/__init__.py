"""What opens over a page and closes again."""
