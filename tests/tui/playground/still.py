"""What of the playground does not move: topics with records of the last days, and groups without members."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, NamedTuple

from kcli.admin.groups.commits import write_commits
from kcli.admin.topics.delete_records import delete_records
from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics
from kcli.asking.coordinators import Coordinators
from kcli.cli.commands.demo.scene import TOPICS as PLAYED
from kcli.client import Client
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.producer.intake.send_records import Row

DAY = 86_400_000  # ms


class Shape(NamedTuple):
    """A topic: partitions, records in all, how many days ago the last one was written, and its overrides."""

    partitions: int
    records: int
    days: float = 0.0
    configs: dict[str, str] = {}  # noqa: RUF012  # nothing writes to it


STILL = {
    "audit.log": Shape(3, 4_000, 0.1, {"retention.ms": "31536000000"}),
    "billing.invoices": Shape(6, 3_000),
    "billing.invoices.dlq": Shape(1, 37, 2.0),
    "catalogue.products": Shape(4, 2_500, 0.2, {"cleanup.policy": "compact"}),
    "catalogue.prices": Shape(4, 1_800, 0.0, {"cleanup.policy": "compact,delete"}),
    "checkout.sessions": Shape(8, 5_000),
    "crm.contacts": Shape(2, 900, 5.0),
    "devices.telemetry.raw": Shape(12, 9_000),
    "devices.telemetry.hourly": Shape(3, 600, 0.04),
    "email.outbox": Shape(2, 700),
    "email.bounces": Shape(1, 60, 1.0),
    "empty.for-later": Shape(3, 0),
    "fraud.scores": Shape(3, 1_200),
    "inventory.movements": Shape(6, 2_400),
    "inventory.snapshots": Shape(1, 40, 0.5, {"max.message.bytes": "5242880"}),
    "legacy-import-2024-of-the-old-warehouse-system": Shape(2, 300, 30.0),
    "metrics": Shape(12, 8_000, 0.0, {"retention.ms": "3600000"}),
    "notifications.push": Shape(4, 1_500),
    "payments.refunds": Shape(3, 250),
    "recommendations": Shape(6, 2_000),
    "search.index-requests": Shape(8, 6_000),
    "search.queries": Shape(8, 4_500),
    "sessions": Shape(5, 3_000, 0.0, {"cleanup.policy": "compact"}),
    "shipping.labels": Shape(2, 800, 0.3),
    "shipping.tracking": Shape(4, 2_200),
    "test-anna": Shape(1, 25, 12.0),
}
"""With those of the demo's scene thirty topics."""

COMMITS = {
    "crm-sync": ("crm.contacts", 1.0),
    "nightly-report": ("shipping.labels", 1.0),
    "search-indexer-old": ("search.index-requests", 0.25),
    "metrics-to-lake": ("metrics", 0.05),
    "test-anna-consumer": ("test-anna", 0.2),
    "legacy-import": ("legacy-import-2024-of-the-old-warehouse-system", 0.9),
    "kcli-copy.inventory.3b93ca67": ("inventory.movements", 0.5),
}
"""By group without members: its topic, and how much of each partition is committed."""
TRIMMED = ("metrics", 0.2)
"""A topic whose log begins later than a group has committed, and how much of it is gone."""


async def seed(bootstrap: str, now: int | None = None) -> None:
    """Topics, records and commits; `now` is the time of the newest records, in ms (default: this moment)."""
    now = time.time_ns() // 1_000_000 if now is None else now
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
        wanted = [NewTopic(topic=name, partitions=one.partitions, configs=one.configs) for name, one in STILL.items()]
        wanted += [NewTopic(topic=name, partitions=partitions) for name, partitions in PLAYED.items()]
        await create_topics(client.cluster, wanted)
        await wait_for_topics(client.cluster, [one.topic for one in wanted])
        async with client.producer(ProducerSettings(compression="lz4")) as producer:
            for name, shape in STILL.items():
                for part in range(shape.partitions):
                    await producer.send_records(name, list(_rows(name, shape, part, now)))
            await producer.flush()
        for group, (topic, share) in COMMITS.items():
            at = {place: OffsetAndMetadata(offset=round(end * share)) for place, end in ends(topic).items()}
            await write_commits(Coordinators(client.cluster), group, at)
        topic, share = TRIMMED
        await delete_records(client.cluster, {at: round(end * share) for at, end in ends(topic).items()})


def ends(topic: str) -> dict[TopicPartition, int]:
    """How many records each partition of a topic has: they are filled unevenly, as those with keys are."""
    shape = STILL[topic]
    weights = [2 + part * part % 5 for part in range(shape.partitions)]
    return {TopicPartition(topic, part): shape.records * weight // sum(weights) for part, weight in enumerate(weights)}


def _rows(topic: str, shape: Shape, partition: int, now: int) -> Iterator[Row]:
    """The records of a partition, spread evenly over the day before its last one."""
    many = ends(topic)[TopicPartition(topic, partition)]
    last = now - round(shape.days * DAY)
    for n in range(many):
        value = {
            "id": f"{partition}-{n}",
            "of": topic,
            "amount": n * 37 % 10_000 / 100,
            "customer": {"number": n % 211, "country": ("DE", "FR", "JP", "BR")[n % 4]},
            "tags": ["new", "checked"][: n % 3],
        }
        yield partition, last - (many - 1 - n) * DAY // many, b"key-%d" % (n % 211), json.dumps(value).encode(), ()
