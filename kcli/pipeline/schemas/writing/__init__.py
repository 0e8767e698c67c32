"""Columns as payloads of a schema, behind what names it."""
