"""Who may connect and do what: TLS, SASL, ACLs, users, delegation tokens."""
