"""What every kind of group membership shares: the session, commits, the coordinator, assigned partitions."""
