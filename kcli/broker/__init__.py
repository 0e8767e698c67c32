"""One broker: connections per lane, handshake, versions, timeouts, throttling. It never retries: callers do."""
