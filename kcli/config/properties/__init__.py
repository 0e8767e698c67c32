"""Properties by their Java and librdkafka names: from profiles, `KCLI_*`, files and -X, as settings."""
