"""`kcli produce`."""
