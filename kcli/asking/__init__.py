"""One way to ask the cluster: split by broker, gathered, asked again while that can help."""
