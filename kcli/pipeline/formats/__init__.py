"""Converts bytes to typed columns: Arrow, JSON by the rules of Spark's `from_json`, msgpack, URL-encoded fields."""
