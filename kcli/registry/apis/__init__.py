"""What registries answer beside Confluent's API."""
