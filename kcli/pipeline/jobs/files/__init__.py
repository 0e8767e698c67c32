"""Files that jobs write and read: formats, folders, Delta tables, leftovers of a crash."""
