"""Requests to the cluster: split by broker, gathered, retried while that can help."""
