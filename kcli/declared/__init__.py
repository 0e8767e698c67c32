"""What a cluster shall have, written down: topics, configs, ACLs, users and quotas; compared, changed, exported."""
