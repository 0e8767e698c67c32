"""`kcli copy`."""
