"""`kcli consume`, `tail` and `count`."""
