"""Topics: listed, described, created, deleted; partitions added; records deleted; figures."""
