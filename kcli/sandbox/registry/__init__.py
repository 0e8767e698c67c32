"""A schema registry with Confluent's REST API, beside the brokers of a sandbox."""
