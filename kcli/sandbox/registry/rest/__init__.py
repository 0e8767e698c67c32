"""The registry by HTTP: Confluent's REST API."""
