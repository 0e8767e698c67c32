"""Registry APIs other than Confluent's."""
