"""`kcli pipeline list|status|drain|stop`."""
