"""The heatmap: topics or brokers by their partitions."""
