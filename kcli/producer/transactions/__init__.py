"""Transactions (KIP-98, KIP-890): the state machine, the requests to coordinators, and when batches may be sent."""
