"""Schemaless binary formats of keys and values: numbers, UUIDs, CBOR, Protobuf by field numbers."""
