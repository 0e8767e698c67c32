"""Long texts, of which only the lines in view are drawn."""
