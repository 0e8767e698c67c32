"""Security properties: ssl.*, sasl.* and `sasl.jaas.config` as `Security`, and where secrets are stored."""
