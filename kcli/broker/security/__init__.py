"""TLS and SASL of a connection: certificates, mechanisms, tokens, session renewal."""
