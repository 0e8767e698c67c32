"""A member of a share group (KIP-932): acquired ranges of records, acknowledged one range at a time."""
