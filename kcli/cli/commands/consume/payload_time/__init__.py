"""Times inside of values: --time-field."""
