"""A single broker: connections per lane, handshake, versions, timeouts, throttling. It never retries; its
callers do."""
