"""What secures a connection: ssl.*, sasl.* and `sasl.jaas.config` as `Security`, and where secrets are kept."""
