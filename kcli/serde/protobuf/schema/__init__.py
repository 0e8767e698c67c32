"""Schemas of Protobuf: texts and descriptors of files into types."""
