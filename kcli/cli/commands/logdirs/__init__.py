"""`kcli logdirs`."""
