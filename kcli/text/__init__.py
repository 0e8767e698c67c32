"""Text: escaping for terminals, pattern matching, numbers and widths, suggestions for mistyped names."""
