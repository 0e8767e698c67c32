"""Authentication and authorization: TLS, SASL, ACLs, users, delegation tokens."""
