"""The planning of `apply` and `diff`: compares a cluster with files, section by section, and finds the steps between
them."""
