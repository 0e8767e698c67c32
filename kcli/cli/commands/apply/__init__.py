"""`kcli apply`, `diff` and `export`: a cluster declared in files."""
