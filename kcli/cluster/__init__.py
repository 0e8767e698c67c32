"""Leaders and coordinators: metadata on demand, and how to discard cached facts that proved wrong."""
