"""`kcli redrive`."""
