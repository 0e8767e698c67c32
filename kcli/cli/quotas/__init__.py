"""`kcli quotas`."""
