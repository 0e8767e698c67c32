"""Records from one topic to another: read, keep or leave out, publish, and only then remember how far (R4)."""
