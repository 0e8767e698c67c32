"""`kcli acls`."""
