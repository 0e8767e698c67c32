"""One folder a subject, one module a command."""
