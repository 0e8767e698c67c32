"""Keys and values of a known form without a schema: numbers, UUIDs, CBOR, Protobuf by its numbers."""
