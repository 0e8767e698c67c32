"""The declared state of a cluster: topics, configs, ACLs, users and quotas; compared, changed, exported."""
