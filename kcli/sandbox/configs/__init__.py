"""Configurations of topics, brokers, groups, client metrics and loggers: Kafka's names, defaults, types and ranges."""
