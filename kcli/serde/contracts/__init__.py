"""Data contracts: the rules of a schema, what they forbid, and which fields are encrypted."""
