"""A member of a classic group: join, sync, heartbeats, and the assignors of the Java client."""
