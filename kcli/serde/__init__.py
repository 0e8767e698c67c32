"""Bytes of records and what they mean: filters, and the values that expressions see."""
