"""A share group and its partitions (KIP-932)."""
