"""The group coordinator: classic groups, KIP-848 groups, share groups and committed offsets."""
