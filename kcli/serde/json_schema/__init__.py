"""Values with a JSON schema: JSON texts behind a frame."""
