"""What the dashboard of `kcli demo` looks at: live producers, and five groups of which one is well.

`billing` keeps up, `reports` falls behind, `fraud` is stuck on a record, all members of `archive` left, `ledger`
waits for a transaction that stays open. A process of its own, until it is ended:
`python -m kcli.cli.commands.demo.scene HOST:PORT`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sys
import time
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING

from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics
from kcli.client import Client
from kcli.consumer.consumer import Consumer
from kcli.errors import KcliError
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings, parse_bootstrap

if TYPE_CHECKING:
    from kcli.producer.intake.send_records import Row

TOPICS = {"orders": 6, "clicks": 12, "payments": 3, "ledger": 2}
BEAT = 0.25  # seconds between the batches of a producer
SLOW = 900  # records a second that `reports` reads, of 1,500
BITE = 2048  # bytes: a batch or two
FOR_EVER = 15 * 60.0  # seconds a transaction may last at most, by the broker's default


async def play(bootstrap: str) -> None:
    """Make the topics, then play until cancelled."""
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap), client_id="demo")) as client:
        await create_topics(client.cluster, [NewTopic(topic=name, partitions=n) for name, n in TOPICS.items()])
        await wait_for_topics(client.cluster, TOPICS)
        async with asyncio.TaskGroup() as parts:
            parts.create_task(produce(client, "orders", 400, _order))
            parts.create_task(produce(client, "clicks", 1500, _click))
            parts.create_task(produce(client, "payments", 40, _payment))
            parts.create_task(_open_transaction(client))
            parts.create_task(_leave(client))
            for member in ("billing-1", "billing-2"):
                parts.create_task(read(client, "orders", "billing", member))
            parts.create_task(read(client, "clicks", "reports", "reports-1", most=SLOW))
            parts.create_task(read(client, "payments", "fraud", "fraud-1", stop_after=200))
            parts.create_task(read(client, "ledger", "ledger", "ledger-1", isolation="read_committed"))


async def produce(client: Client, topic: str, rate: int, made: Callable[[int], tuple[str, dict[str, object]]]) -> None:
    """`rate` records a second, in batches."""
    async with client.producer(ProducerSettings(compression="lz4")) as producer:
        numbers = count(1)
        while True:
            rows: list[Row] = []
            for number in (next(numbers) for _ in range(max(round(rate * BEAT), 1))):
                key, value = made(number)
                rows.append((None, None, key.encode(), json.dumps(value).encode(), ()))
            await producer.send_records(topic, rows)
            await asyncio.sleep(BEAT)


async def read(
    client: Client, topic: str, group: str, name: str, *, most: int | None = None, stop_after: int | None = None,
    isolation: str = "read_uncommitted",
) -> None:  # fmt: skip
    """A member of a group that commits each second and reads at most `rate` records a second; after
    `stop_after` records it keeps polling and does no more work: stuck, and alive."""
    settings = GroupSettings(group=group, auto_commit_interval=1.0)
    named = Client(client.settings.replace(client_id=name))
    how = ConsumerSettings(isolation=isolation)
    if most is not None:
        how = how.replace(partition_max_bytes=BITE)  # so that it progresses in all its partitions, however far behind
    async with named, named.consumer(settings=how, group=settings) as consumer:
        await consumer.subscribe([topic])
        done = 0
        while stop_after is None or done < stop_after:
            begun = time.monotonic()
            got = sum(batch.visible for one in await consumer.poll(1.0, 4096) for batch in one.batches)
            done += got
            if most is not None:
                await asyncio.sleep(max(got / most - (time.monotonic() - begun), 0.0))
        await _be_stuck(consumer)


async def _be_stuck(consumer: Consumer) -> None:
    consumer.pause(*consumer.assignment)
    while True:
        await consumer.poll(1.0)


async def _leave(client: Client) -> None:
    """Read a little, commit it, and never come back."""
    settings = GroupSettings(group="archive")
    async with client.consumer(group=settings) as consumer:
        await consumer.subscribe(["orders"])
        await consumer.poll(10.0)
        await consumer.commit()


async def _open_transaction(client: Client) -> None:
    """Committed records, then a transaction that stays open; others keep writing behind it."""
    settings = ProducerSettings(transactional_id="ledger-writer", transaction_timeout=FOR_EVER)
    async with client.producer(settings) as producer:
        await producer.initialise()
        async with producer.transaction():
            await producer.send_records("ledger", [(None, None, b"account-1", b'{"amount": 10}', ())] * 50)
        await producer.begin()
        for partition in range(TOPICS["ledger"]):
            await producer.send("ledger", b'{"amount": 0, "state": "pending"}', partition=partition)
        await producer.flush()
        await produce(client, "ledger", 20, _payment)


def _order(number: int) -> tuple[str, dict[str, object]]:
    customer = f"customer-{random.randrange(500)}"
    now = time.time_ns() // 1_000_000
    return customer, {"order": number, "customer": customer, "items": random.randrange(1, 9), "ts": now}


def _click(number: int) -> tuple[str, dict[str, object]]:
    page = random.choice(("/", "/search", "/cart", "/checkout", "/help"))
    return f"session-{random.randrange(2000)}", {"click": number, "page": page, "ms": random.randrange(5, 900)}


def _payment(number: int) -> tuple[str, dict[str, object]]:
    return f"account-{random.randrange(50)}", {"payment": number, "amount": random.randrange(100, 90_000) / 100}


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        try:
            asyncio.run(play(sys.argv[1]))
        except* KcliError as problems:
            raise SystemExit(str(problems.exceptions[0])) from None
