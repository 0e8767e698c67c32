"""Values with a JSON schema: framed JSON texts."""
