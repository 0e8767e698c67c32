"""Connections to a broker of the sandbox: how a request comes in and its answer goes out."""
