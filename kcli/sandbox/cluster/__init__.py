"""The parts of the cluster: topics, configs, quotas, the quorum, moves of replicas."""
