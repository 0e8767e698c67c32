"""Membership in a share group (KIP-932): acquired ranges of records, acknowledged by range."""
