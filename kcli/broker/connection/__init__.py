"""Connections to one broker: opened per lane, with handshake, ordered requests and responses, closed when idle."""
