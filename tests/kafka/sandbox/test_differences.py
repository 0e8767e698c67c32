"""The same odd requests to the sandbox and to a real Apache Kafka: the answers are equal, except where docs/sandbox.md
says so, with the reason. A difference that the page does not list fails, and a listed one that is none any more."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from kcli.proto.messages import REQUESTS
from kcli.sandbox.answers import ANSWERS
from kcli.sandbox.settings import SandboxSettings
from kcli.sandbox.thread import SandboxThread
from tests.kafka.cluster import Kafka
from tests.kafka.sandbox.answered import fits
from tests.kafka.sandbox.asked import Compared, compared, coordinators
from tests.kafka.sandbox.odd_requests import OddRequest, tables
from tests.kafka.versions import without_zookeeper

PAGE = Path(__file__).resolve().parents[3] / "docs/sandbox.md"
ROW = re.compile(r"^\| `(?P<request>[^`]+)` \| `(?P<path>[^`]+)` \| (?P<reason>.+) \|$", re.MULTILINE)
AT_LEAST = 2000


VERSIONS = ["newest", "4.3.1"]
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


@dataclass(frozen=True)
class Pair:
    """A real cluster and a sandbox that are set up alike."""

    nodes: int = 1
    super_users: bool = False
    """Whether the sandbox is told who is a super user; else everyone is one, as in this Kafka, which knows no users."""
    alone: bool = True
    """Whether its tables are played one after another, for they ask for everything that is there."""

    def kafka(self, version: str) -> Kafka:
        made = Kafka(self.nodes, SETTINGS | AUTHORIZER)
        if version != "newest":
            for node in made.nodes:
                node.jars = without_zookeeper(version)
        return made

    def sandbox(self, version: str) -> SandboxSettings:
        return SandboxSettings(
            kafka_version="4.4" if version == "newest" else version.rpartition(".")[0],
            brokers=self.nodes, auto_create=False, rebalance_delay=0.0,
            super_users=["User:ANONYMOUS"] if self.super_users else None,
        )  # fmt: skip


PAIRS = {"authorizer": Pair(super_users=True, alone=False), "open": Pair(), "three": Pair(nodes=3)}


def listed() -> list[tuple[str, str, str]]:
    """The differences that the page lists: requests and paths, as patterns, and the reason."""
    return [(row["request"], row["path"], row["reason"]) for row in ROW.finditer(PAGE.read_text())]


async def all_compared(name: str, kafka: Sequence[int], sandbox: Sequence[int]) -> list[Compared]:
    """Every line of the tables of a cluster, played on both."""
    known = listed()

    def expected(name: str) -> set[str]:
        return {path for request, path, _ in known if fnmatchcase(name, request)}

    await coordinators(kafka)
    await coordinators(sandbox)
    word = uuid.uuid4().hex[:6]
    lines = [table.lines for table in tables() if table.cluster == name]
    plays = [compared(kafka, sandbox, each, f"{word}{n:02}", expected) for n, each in enumerate(lines)]
    if PAIRS[name].alone:
        return [each for play in plays for each in await play]
    return [each for results in await asyncio.gather(*plays) for each in results]


def played(name: str, version: str) -> list[Compared]:
    """The tables of a cluster, played on a real one of a version and on a sandbox."""
    pair = PAIRS[name]
    real = pair.kafka(version)
    try:
        real.start()
        with SandboxThread(pair.sandbox(version)) as sandbox:
            ports = [int(address.split(":")[1]) for address in sandbox.bootstrap.split(",")]
            return asyncio.run(all_compared(name, [node.client_port for node in real.nodes], ports))
    finally:
        real.stop()


@pytest.mark.long
@pytest.mark.xfail(strict=True, reason="Support Kafka 4.4, and a sandbox that behaves like it")
@pytest.mark.parametrize("version", VERSIONS)
def test_the_sandbox_answers_as_kafka_does_except_where_the_page_says_so(version: str) -> None:
    results = [each for name in PAIRS for each in played(name, version)]
    assert not unlisted(results), "not in docs/sandbox.md:\n" + "\n".join(unlisted(results))
    if version == "newest":
        assert not outdated(results), "in docs/sandbox.md, and there is no such difference:\n" + "\n".join(
            outdated(results)
        )


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
    """The rows of the page that are about no difference."""
    seen = [(each.request.name, path) for each in results for path in each.paths]
    return [
        f"{name} {pattern}"
        for name, pattern, _ in listed()
        if not any(fnmatchcase(request, name) and fits(path, pattern) for request, path in seen)
    ]


def test_there_are_requests_for_every_api_that_the_sandbox_answers() -> None:
    asked = [line for table in tables() for line in table.lines if isinstance(line, OddRequest)]
    assert len(asked) >= AT_LEAST
    apis = Counter(line.kind.api_key for line in asked)
    assert [REQUESTS[key][1] for key in ANSWERS if not apis[key]] == []


def test_each_row_of_the_page_has_a_reason_and_is_there_once() -> None:
    rows = listed()
    assert rows
    assert [row for row, times in Counter((name, path) for name, path, _ in rows).items() if times > 1] == []
