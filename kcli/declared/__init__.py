"""The declared state of a cluster: topics, configs, ACLs, users and quotas, read from files and exported."""
