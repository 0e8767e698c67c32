"""Rules of type CEL_FIELD, by payload format."""
