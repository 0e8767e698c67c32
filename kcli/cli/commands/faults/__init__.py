"""`kcli faults`."""
