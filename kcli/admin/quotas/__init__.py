"""Client quotas, and which of them is in force."""
