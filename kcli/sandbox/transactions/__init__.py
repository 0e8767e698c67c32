"""The transaction coordinator (KIP-98, 447, 890)."""
