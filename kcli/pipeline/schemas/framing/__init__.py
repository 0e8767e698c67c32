"""Frames of all serializers: which schema each row names, which message a payload is, and payloads laid bare."""
