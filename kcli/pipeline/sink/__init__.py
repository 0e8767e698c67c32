"""Writing: Arrow rows to a producer in each task, and the exactly-once sink of a copy."""
