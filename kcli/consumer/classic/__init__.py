"""Membership in a classic group: join, sync, heartbeats, and the assignors of the Java client."""
