"""Keys and values that name a schema in a frame: found, read by it, and put into the batch in place of the bytes."""
