"""A member of a consumer group (KIP-848): the coordinator assigns, the member reconciles."""
