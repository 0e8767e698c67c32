"""Leaders and coordinators: metadata on demand, and how to forget what proved wrong."""
