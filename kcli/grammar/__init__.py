"""Parsers for words of a command line or file: offsets, durations, numbers with units."""
