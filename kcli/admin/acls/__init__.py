"""ACLs: read, added, removed, and what they allow."""
