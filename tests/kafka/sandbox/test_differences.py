"""The same odd requests to the sandbox and to a real Apache Kafka: the answers are equal, except where docs/sandbox.md
says so, with the reason. A difference that the page does not list fails, and a listed one that is none any more."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections import Counter
from collections.abc import Coroutine, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from kcli.proto.messages import REQUESTS
from kcli.sandbox.answers import ANSWERS
from kcli.sandbox.settings import SandboxSettings
from kcli.sandbox.thread import SandboxThread
from tests.kafka.cluster import Kafka
from tests.kafka.sandbox.answered import fits
from tests.kafka.sandbox.asked import Compared, compared, coordinators
from tests.kafka.sandbox.odd_requests import OddRequest, tables
from tests.kafka.versions import NEWEST, without_zookeeper

PAGE = Path(__file__).resolve().parents[3] / "docs/sandbox.md"
ROW = re.compile(r"^\| `(?P<request>[^`]+)` \| `(?P<path>[^`]+)` \| (?P<reason>.+) \|$", re.MULTILINE)
AT_LEAST = 2000
AT_MOST = 20
"""Rows of the page."""
BEFORE = "4.3.1"
"""The version before the newest, which `--kafka-version 4.3` behaves like."""
SETTINGS: dict[str, str | None] = {
    "group.min.session.timeout.ms": "1",
    "group.consumer.heartbeat.interval.ms": "1000",
    "group.share.heartbeat.interval.ms": "1000",
    "share.coordinator.state.topic.min.isr": "1",
    "transaction.state.log.min.isr": "1",
    **dict.fromkeys(
        (
            "background.threads",
            "broker.heartbeat.interval.ms",
            "broker.session.timeout.ms",
            "log.cleaner.backoff.ms",
            "log.cleaner.dedupe.buffer.size",
            "log.retention.check.interval.ms",
            "metrics.jmx.exclude",
            "min.insync.replicas",
            "num.io.threads",
            "num.network.threads",
            "offsets.topic.num.partitions",
            "replica.lag.time.max.ms",
            "share.coordinator.state.topic.num.partitions",
            "transaction.abort.timed.out.transaction.cleanup.interval.ms",
            "transaction.state.log.num.partitions",
        )
    ),
}
"""What a sandbox has, mostly Kafka's defaults; the cluster of other tests is quicker."""
AUTHORIZER: dict[str, str | None] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
"""A plain sandbox keeps ACLs, and they bind nobody."""
ONE, THREE = 1, 3
"""Brokers."""
CLUSTERS = {"one": ONE, "alone": ONE, "three": THREE}
"""The word that a table has for its cluster. What is played `alone` comes first, a table after the other, for it asks
for everything that is there; the other tables are played beside one another."""


def listed() -> list[tuple[str, str, str]]:
    """The differences that the page lists: requests and paths, as patterns, and the reason."""
    return [(row["request"], row["path"], row["reason"]) for row in ROW.finditer(PAGE.read_text())]


async def all_compared(brokers: int, kafka: Sequence[int], sandbox: Sequence[int]) -> list[Compared]:
    """Every line of the tables of a cluster, played on both."""
    known = listed()

    def expected(name: str) -> set[str]:
        return {path for request, path, _ in known if fnmatchcase(name, request)}

    await coordinators(kafka)
    await coordinators(sandbox)
    word = uuid.uuid4().hex[:6]
    alone: list[Coroutine[Any, Any, list[Compared]]] = []
    together: list[Coroutine[Any, Any, list[Compared]]] = []
    for number, table in enumerate(tables()):
        if CLUSTERS[table.cluster] == brokers:
            play = compared(kafka, sandbox, table.lines, f"{word}{number:02}", expected)
            (alone if table.cluster == "alone" else together).append(play)
    results = [each for play in alone for each in await play]
    return results + [each for played in await asyncio.gather(*together) for each in played]


def played(brokers: int, version: str) -> list[Compared]:
    """The tables of a cluster, played on a real one of a version and on a sandbox."""
    real = Kafka(brokers, SETTINGS | AUTHORIZER)
    if version != NEWEST:
        for node in real.nodes:
            node.jars = without_zookeeper(version)
    short = ".".join(version.split(".")[:2])
    settings = SandboxSettings(kafka_version=short, brokers=brokers, auto_create=False, rebalance_delay=0.0)
    try:
        real.start()
        with SandboxThread(settings) as sandbox:
            ports = [int(address.split(":")[1]) for address in sandbox.bootstrap.split(",")]
            return asyncio.run(all_compared(brokers, [node.client_port for node in real.nodes], ports))
    finally:
        real.stop()


@pytest.mark.parametrize(
    ("brokers", "version"),
    [
        (ONE, NEWEST),
        (THREE, NEWEST),
        pytest.param(ONE, BEFORE, marks=pytest.mark.long),
        pytest.param(THREE, BEFORE, marks=pytest.mark.long),
    ],
)
def test_the_sandbox_answers_as_kafka_does_except_where_the_page_says_so(brokers: int, version: str) -> None:
    results = played(brokers, version)
    assert not unlisted(results), "not in docs/sandbox.md:\n" + "\n".join(unlisted(results))
    if version == NEWEST:
        stale = outdated(results)
        assert not stale, "in docs/sandbox.md, and there is no such difference:\n" + "\n".join(stale)


def unlisted(results: list[Compared]) -> list[str]:
    """The differences that no row of the page is about."""
    known = listed()
    return [
        f"{each.request.name} {path}\n  Kafka   {json.dumps(kafka)[:300]}\n  sandbox {json.dumps(sandbox)[:300]}"
        for each in results
        for path, (kafka, sandbox) in each.paths.items()
        if not any(fnmatchcase(each.request.name, name) and fits(path, pattern) for name, pattern, _ in known)
    ]


def outdated(results: list[Compared]) -> list[str]:
    """The rows of the page about requests that were played, and none of them differs."""
    asked = {each.request.name for each in results}
    seen = [(each.request.name, path) for each in results for path in each.paths]
    return [
        f"{name} {pattern}"
        for name, pattern, _ in listed()
        if any(fnmatchcase(request, name) for request in asked)
        and not any(fnmatchcase(request, name) and fits(path, pattern) for request, path in seen)
    ]


def test_there_are_requests_for_every_api_that_the_sandbox_answers() -> None:
    asked = [line for table in tables() for line in table.lines if isinstance(line, OddRequest)]
    assert len(asked) >= AT_LEAST
    apis = Counter(line.kind.api_key for line in asked)
    assert [REQUESTS[key][1] for key in ANSWERS if not apis[key]] == []


def test_each_row_of_the_page_has_a_reason_and_is_there_once() -> None:
    rows = listed()
    assert 0 < len(rows) <= AT_MOST
    assert [row for row, times in Counter((name, path) for name, path, _ in rows).items() if times > 1] == []
