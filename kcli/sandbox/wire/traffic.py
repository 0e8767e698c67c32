"""What all connections of a sandbox count together."""

from __future__ import annotations

MOST_HELD = 256 * 1024 * 1024
"""Bytes of requests, whole and half, that all connections to all brokers may hold together."""


class Traffic:
    """`seen`: how many requests of each API key came; `held`: bytes of requests that came and are not answered;
    `failures`: bugs of the sandbox that requests met."""

    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        self.held = 0
        self.failures: list[Exception] = []

    def count(self, api_key: int) -> None:
        """A request came."""
        self.seen[api_key] = self.seen.get(api_key, 0) + 1
