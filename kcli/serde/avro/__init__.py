"""Avro: schemas, schema resolution, and the programs that the record core runs over payloads."""
