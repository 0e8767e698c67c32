"""The record core in plain Python: what `compiled/*.pxi` is tested against, and what runs where that is missing."""
