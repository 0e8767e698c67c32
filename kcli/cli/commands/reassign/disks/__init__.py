"""`kcli reassign disks`."""
