"""Common parts of every kind of group membership: session, commits, coordinator, assigned partitions."""
