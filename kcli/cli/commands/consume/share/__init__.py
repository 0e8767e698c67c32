"""`kcli consume --share-group`."""
