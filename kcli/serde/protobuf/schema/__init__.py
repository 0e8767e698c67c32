"""Parses Protobuf schemas, from texts and descriptors of files."""
