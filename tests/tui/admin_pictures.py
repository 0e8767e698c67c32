"""The pictures of the pages for administrators: transactions, ACLs, quotas, reassignments, schemas, all clusters.

A sandbox with ACLs, quotas and a schema registry of its own; transactions and moves are put into their pages, for
their ages and rates depend on the clock.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kcli.acls import Acl
from kcli.admin.acls import create_acls
from kcli.admin.quotas import alter_quotas, entity
from kcli.admin.reassign.reassignments import Ongoing, Share
from kcli.admin.transactions.transactions import Described, Listed
from kcli.client import Client
from kcli.model import TopicPartition
from kcli.registry.listing.opened import OpenRegistry
from kcli.registry.settings import RegistrySettings
from kcli.schemas import AVRO, Schema
from kcli.security.http import origin_of
from kcli.settings import ClientSettings, parse_bootstrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.sandbox.thread import SandboxThread

REGISTRY = " --schema-registry http://registry:8081"
ACLS = [
    Acl("topic", "orders", "literal", "User:billing", "*", "read", "allow"),
    Acl("topic", "orders", "literal", "User:shop", "*", "write", "allow"),
    Acl("topic", "pay", "prefixed", "User:fraud", "*", "read", "allow"),
    Acl("topic", "payments", "literal", "User:*", "10.0.0.7", "all", "deny"),
    Acl("group", "billing", "literal", "User:billing", "*", "read", "allow"),
    Acl("transactional-id", "ledger-", "prefixed", "User:ledger", "*", "write", "allow"),
    Acl("cluster", "kafka-cluster", "literal", "User:admin", "*", "alter", "allow"),
]
QUOTAS = {
    entity({"user": "billing"}): {"consumer_byte_rate": 20.0 * 2**20, "request_percentage": 50.0},
    entity({"user": "shop", "client-id": "web"}): {"producer_byte_rate": 10.0 * 2**20},
    entity({"user": None}): {"producer_byte_rate": 1.0 * 2**20, "controller_mutation_rate": 5.0},
    entity({"ip": "10.0.0.7"}): {"connection_creation_rate": 20.0},
}
SCHEMAS = {
    "orders-value": [
        '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}',
        '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, '
        '{"name": "note", "type": "string", "default": ""}]}',
    ],
    "payments-value": ['{"type": "record", "name": "Payment", "fields": [{"name": "amount", "type": "double"}]}'],
    "customers-key": ['"string"'],
}
MINUTE = 60_000  # ms


def registry(sandbox: SandboxThread) -> RegistrySettings:
    """The sandbox's own."""
    return RegistrySettings(origins=(origin_of(sandbox.registry_url),), disk=False)


async def administer(sandbox: SandboxThread) -> None:
    """ACLs, quotas and subjects."""
    async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
        assert not any((await create_acls(client.cluster, ACLS)).values())
        assert not any((await alter_quotas(client.cluster, QUOTAS)).values())
    there = OpenRegistry(registry(sandbox))
    for subject, texts in SCHEMAS.items():
        for text in texts:
            await there.client.register(subject, Schema(kind=AVRO, text=text))
    await there.close()


def transactions() -> Any:
    """Two that are open, one of them over its time-out, and two that ended; old enough for the ages to stay."""
    now = int(time.time() * 1000)

    def one(name: str, state: str, minutes: float = 0.0, timeout: int = 15) -> tuple[Listed, Described]:
        started = now - int(minutes * MINUTE) if minutes else -1
        partitions = [TopicPartition("ledger", n) for n in range(2)] if minutes else []
        producer = 4000 + len(name)
        return Listed(name=name, state=state, producer_id=producer, coordinator=1), Described(
            name=name, state=state, timeout_ms=timeout * MINUTE, started=started, partitions=partitions,
            producer_id=producer, coordinator=1,
        )  # fmt: skip

    return [
        one("ledger-7", "Ongoing", 187.5),
        one("shop-checkout-1", "Ongoing", 64.5, 120),
        one("ledger-3", "CompleteCommit"),
        one("reports-export", "CompleteAbort"),
    ], {}


def moves() -> list[Any]:
    """Two answers, ten seconds apart: what is left of three moves."""
    ongoing = {
        TopicPartition("orders", n): Ongoing(replicas=[1, 2, 3 + n % 2], adding=[3 + n % 2], removing=[1])
        for n in range(3)
    }

    def left(share: float) -> dict[TopicPartition, Share]:
        return {at: Share(size=2**30, left=int(2**30 * share / (1 + at.partition))) for at in ongoing}

    return [(ongoing, left(0.8), 0.0), (ongoing, left(0.6), 10.0)]


PLACES: dict[str, tuple[str, str, Callable[[], list[Any]] | None]] = {
    "transactions": ("transactions", "ledger-7", lambda: [transactions()]),
    "acls": ("acls", "User:fraud", None),
    "access": ("acls topic payments", "BECAUSE", None),
    "quotas": ("quotas", "every other", None),
    "reassignments": ("reassignments", "orders", moves),
    "schemas": ("schemas", "customers-key", None),
    "subject": ("schema orders-value", "+ note: string", None),
}
"""A picture: where it begins, words that are there then, answers that are put into the page."""


async def put(page: Any, answers: list[Any]) -> None:
    """Show these answers instead of the cluster's."""
    page.asking.stop()
    for answer in answers:
        page.fetched(answer)
