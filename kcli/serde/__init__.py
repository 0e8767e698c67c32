"""Formats of keys and values: decoding, encoding, filters, and the values that expressions see."""
