"""TLS and SASL of a connection: certificates, mechanisms, tokens, sessions that are renewed."""
