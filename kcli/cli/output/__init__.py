"""What is printed: records, tables, JSON, columns."""
