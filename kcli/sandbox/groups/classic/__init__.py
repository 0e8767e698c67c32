"""A classic consumer group: its members, its roster and its rebalances."""
