"""What `send` returns for a record, and what became of the batch that has it."""
