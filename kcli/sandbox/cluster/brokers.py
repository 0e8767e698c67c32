"""The brokers of a sandbox: which of them live, which controls the cluster, which coordinates what."""

from __future__ import annotations

from binascii import crc32
from collections.abc import Iterator

from kcli.errors import UsageError
from kcli.sandbox.wire.broker import SandboxBroker

GROUP, TRANSACTION = 0, 1  # kinds of coordinators, as FindCoordinator numbers them


class Brokers:
    """In the order of their node ids. `moved` has the groups and transactional ids whose coordinator was moved (a
    fault), by kind."""

    def __init__(self) -> None:
        self._all: list[SandboxBroker] = []
        self.moved: dict[int, dict[str, int]] = {GROUP: {}, TRANSACTION: {}}

    def add(self, broker: SandboxBroker) -> None:
        self._all.append(broker)

    def __iter__(self) -> Iterator[SandboxBroker]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, number: int) -> SandboxBroker:
        """By its number, counted from 0."""
        return self._all[number]

    def node(self, node_id: int) -> SandboxBroker:
        """By its node id. Raises UsageError for a broker that does not exist."""
        for broker in self._all:
            if broker.node_id == node_id:
                return broker
        raise UsageError(f"unknown broker {node_id}; known: {', '.join(str(b.node_id) for b in self._all)}")

    @property
    def node_ids(self) -> list[int]:
        return [broker.node_id for broker in self._all]

    def living(self) -> list[SandboxBroker]:
        return [broker for broker in self._all if broker.alive]

    def fenced(self) -> list[SandboxBroker]:
        """Brokers that are registered and down."""
        return [broker for broker in self._all if not broker.alive and broker.registered]

    @property
    def controller_id(self) -> int:
        """The node id of the controller, -1 when no broker lives."""
        living = self.living()
        return living[0].node_id if living else -1

    def coordinator(self, key: str, kind: int = GROUP) -> SandboxBroker | None:
        """The living broker that coordinates a group, a transactional id or a share group's partition; None when none
        lives or the appointed one is down."""
        living = self.living()
        moved = self.moved.get(kind, {}).get(key)
        if moved is not None:
            return next((broker for broker in living if broker.node_id == moved), None)
        return living[crc32(key.encode()) % len(living)] if living else None
