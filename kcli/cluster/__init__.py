"""Who leads, who coordinates: metadata by need, and how to forget what turned out to be wrong."""
