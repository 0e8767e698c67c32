"""Topics: list, describe, create and delete them, add partitions, delete records, figures."""
