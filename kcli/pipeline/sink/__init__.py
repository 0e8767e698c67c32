"""Writing: rows of Arrow to a producer in each task; the exactly-once sink of a copy."""
