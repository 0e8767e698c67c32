"""A process whose members join and leave a group as it is told, and that says every record it was given.

    python -m tests.kafka.member kcli|confluent BOOTSTRAP TOPIC GROUP NAME PROTOCOL auto|each

PROTOCOL is `consumer` (KIP-848) or an assignor of the classic one. `auto` commits from time to time and when partitions
go, `each` by hand after every poll. `join` and `leave` come on stdin, a line each; each join begins a new life with the
client id NAME-1, NAME-2, … What it says, a line each, begins with a word and the time:

    read TIME LIFE PARTITION OFFSET VALUE         a record was handed out
    try|done|refused|unknown TIME LIFE PARTITION=OFFSET,… NOTE    a commit by hand, and how it ended; NOTE is the
                                                  metadata of this commit alone

Sentences for people go to stderr.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer as ConfluentConsumer

from kcli.client import Client
from kcli.consumer.consumer import Consumer, Fetched
from kcli.errors import BrokerError, KcliError
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, parse_bootstrap

SESSION, HEARTBEAT, COMMIT = 3.0, 0.3, 0.5  # seconds


class Place:
    """Where a member belongs, and whether it is to leave."""

    def __init__(self, bootstrap: str, topic: str, group: str, name: str, protocol: str, commits: str) -> None:
        self.bootstrap, self.topic, self.group, self.name = bootstrap, topic, group, name
        self.protocol, self.commits = protocol, commits
        self.leave = threading.Event()


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")


# -- kcli, by its library ---------------------------------------------------------------------------------------------


def kcli_life(place: Place, life: str) -> None:
    asyncio.run(_kcli_life(place, life))


async def _kcli_life(place: Place, life: str) -> None:
    classic: dict[str, Any] = {
        "assignors": (place.protocol,), "session_timeout": SESSION, "heartbeat_interval": HEARTBEAT,
    }  # fmt: skip
    group = GroupSettings(
        group=place.group, auto_commit=place.commits == "auto", auto_commit_interval=COMMIT,
        **({"protocol": "consumer"} if place.protocol == "consumer" else classic),
    )  # fmt: skip
    client_settings = ClientSettings(bootstrap=parse_bootstrap(place.bootstrap), client_id=life)
    async with Client(client_settings) as client:
        try:
            async with client.consumer(settings=ConsumerSettings(reset="earliest"), group=group) as consumer:
                await consumer.subscribe([place.topic])
                while not place.leave.is_set():
                    got = await consumer.poll(0.1)
                    for fetched in got:
                        _tell(life, fetched)
                    sys.stdout.flush()
                    if got and place.commits == "each":
                        await _commit(consumer, life, got)
        except KcliError as problem:
            print(f"{life}: {problem}", file=sys.stderr, flush=True)


def _tell(life: str, fetched: Fetched) -> None:
    assert fetched.error is None, fetched.error
    now = time.time()
    for batch in fetched.batches:
        for record in batch:
            assert record.value is not None
            say("read", now, life, fetched.partition, record.offset, record.value.decode())


async def _commit(consumer: Consumer, life: str, got: list[Fetched]) -> None:
    note = f"{life}:{time.time_ns()}"
    offsets = {
        TopicPartition(one.topic, one.partition): OffsetAndMetadata(one.next_offset, metadata=note) for one in got
    }
    places = ",".join(f"{at.partition}={there.offset}" for at, there in offsets.items())
    say("try", time.time(), life, places, note)
    how = "done"
    try:
        await consumer.commit(offsets)
    except BrokerError as problem:
        how = "unknown" if problem.sent else "refused"
        print(f"{life}: {places}: {problem}", file=sys.stderr, flush=True)
    except KcliError as problem:
        how = "unknown"
        print(f"{life}: {places}: {problem}", file=sys.stderr, flush=True)
    say(how, time.time(), life, places, note)
    sys.stdout.flush()


# -- confluent-kafka, that is librdkafka ------------------------------------------------------------------------------


def confluent_life(place: Place, life: str) -> None:
    options: dict[str, Any] = {
        "bootstrap.servers": place.bootstrap, "group.id": place.group, "client.id": life,
        "auto.offset.reset": "earliest", "enable.auto.commit": True, "auto.commit.interval.ms": round(COMMIT * 1000),
    }  # fmt: skip
    if place.protocol == "consumer":
        options["group.protocol"] = "consumer"
    else:
        options |= {
            "partition.assignment.strategy": place.protocol, "session.timeout.ms": round(SESSION * 1000),
            "heartbeat.interval.ms": round(HEARTBEAT * 1000),
        }  # fmt: skip
    consumer = ConfluentConsumer(options)
    consumer.subscribe([place.topic])
    try:
        while not place.leave.is_set():
            got = consumer.consume(500, 0.1)
            now = time.time()
            for message in got:
                problem = message.error()
                if problem is not None:
                    print(f"{life}: {problem}", file=sys.stderr, flush=True)
                    continue
                say("read", now, life, message.partition(), message.offset(), message.value().decode())
            sys.stdout.flush()
    finally:
        consumer.close()


LIVES: dict[str, Callable[[Place, str], None]] = {"kcli": kcli_life, "confluent": confluent_life}


def main() -> None:
    """Lives one after the other, until stdin ends."""
    live = LIVES[sys.argv[1]]
    place = Place(*sys.argv[2:])
    count = 0
    thread: threading.Thread | None = None
    for word in map(str.strip, sys.stdin):
        if thread is not None:
            place.leave.set()
            thread.join()
            thread = None
        if word == "join":
            count += 1
            place.leave.clear()
            thread = threading.Thread(target=live, args=(place, f"{place.name}-{count}"))
            thread.start()
    place.leave.set()
    if thread is not None:
        thread.join()


if __name__ == "__main__":
    main()
