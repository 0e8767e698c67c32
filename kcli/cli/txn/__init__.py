"""`kcli txn`."""
