"""What an administrator looks after: transactions, ACLs, quotas, reassignments, schemas."""
