"""How often the cluster is asked, and that no key waits for it."""
