"""What screens are made of; no widget asks the session for anything."""
