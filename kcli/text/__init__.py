"""Text: made harmless for a terminal, matched by patterns, likened to known names."""
