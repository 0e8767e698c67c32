"""`kcli brokers`."""
