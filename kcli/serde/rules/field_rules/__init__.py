"""Rules of the type CEL_FIELD, by the format of the payload."""
