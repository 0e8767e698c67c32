"""Avro values as Arrow's columns: which columns a schema has, and the program that fills them."""
