"""Replicas between brokers: plans, moves, throttles."""
