"""Files that jobs write and read: formats, folders, Delta tables, what a crash left."""
