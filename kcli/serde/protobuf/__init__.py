"""Protobuf: schemas as text or descriptors, payloads as JSON and back, by the canonical JSON mapping of proto3."""
