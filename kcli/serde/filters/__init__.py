"""Filters: conditions, hints for searching bytes, and the selected rows."""
