"""Transactions (KIP-98, KIP-890): the state, the requests to coordinators, and what a batch must wait for."""
