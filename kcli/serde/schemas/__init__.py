"""Decodes keys and values with the schemas that their frames name, and replaces the bytes in the batch."""
