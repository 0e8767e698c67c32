"""What the cluster is made of: topics, configs, quotas, the quorum, moves of replicas."""
