"""Connections to a broker of the sandbox: incoming requests and outgoing responses."""
