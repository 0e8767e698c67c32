"""What the pages of records make of values: fields as columns, folded JSON, the difference of two."""
