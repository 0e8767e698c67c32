"""Avro: schemas, their resolution, and the program that the record core runs over payloads."""
