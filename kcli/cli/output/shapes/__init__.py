"""What commands print: columns, sections, schemas."""
