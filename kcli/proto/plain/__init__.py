"""The record core in plain Python: the reference for tests of `compiled/*.pxi`, and the fallback without it."""
