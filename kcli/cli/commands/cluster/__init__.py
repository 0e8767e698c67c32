"""`kcli cluster`, `brokers` and `logdirs`."""
