"""Words that complete: what a shell asks, and the scripts that make it ask."""
