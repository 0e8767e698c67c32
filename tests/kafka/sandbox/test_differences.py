"""The same odd requests to the sandbox and to a real Apache Kafka: the answers are equal, except where docs/sandbox.md
says so, with the reason. A difference that the page does not list fails, and a listed one that is none any more."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections import Counter
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

PAGE = Path(__file__).resolve().parents[3] / "docs/sandbox.md"
ROW = re.compile(r"^\| `(?P<request>[^`]+)` \| `(?P<path>[^`]+)` \| (?P<reason>.+) \|$", re.MULTILINE)
AT_LEAST = 300


def cluster() -> Kafka:
    """A Kafka that is set up as a sandbox is: ACLs are kept, and the only client is a super user."""
    return Kafka(
        settings={
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
            "group.min.session.timeout.ms": "6000",
            "group.consumer.heartbeat.interval.ms": "1000",
            "group.share.heartbeat.interval.ms": "1000",
            "background.threads": "10",
            "num.io.threads": "8",
            "num.network.threads": "3",
            "log.cleaner.backoff.ms": "15000",
            "log.cleaner.dedupe.buffer.size": "8388608",
            "log.retention.check.interval.ms": "300000",
        }
    )


SETTINGS = SandboxSettings(auto_create=False, rebalance_delay=0.0, super_users=["User:ANONYMOUS"])


def listed() -> list[tuple[str, str, str]]:
    """The differences that the page lists: requests and paths, as patterns, and the reason."""
    return [(row["request"], row["path"], row["reason"]) for row in ROW.finditer(PAGE.read_text())]


async def all_compared(kafka: int, sandbox: int) -> list[Compared]:
    """Every line of every table, played on both."""
    known = listed()

    def expected(name: str) -> set[str]:
        return {path for request, path, _ in known if fnmatchcase(name, request)}

    await coordinators(kafka)
    word = uuid.uuid4().hex[:6]
    plays = [compared(kafka, sandbox, lines, f"{word}{n:02}", expected) for n, lines in enumerate(tables().values())]
    return [each for results in await asyncio.gather(*plays) for each in results]


@pytest.mark.long
@pytest.mark.xfail(strict=True, reason="Support Kafka 4.4, and a sandbox that behaves like it")
def test_the_sandbox_answers_as_kafka_does_except_where_the_page_says_so() -> None:
    real = cluster()
    try:
        real.start()
        with SandboxThread(SETTINGS) as sandbox:
            results = asyncio.run(all_compared(real.nodes[0].client_port, int(sandbox.bootstrap.split(":")[1])))
    finally:
        real.stop()
    assert not unlisted(results), "not in docs/sandbox.md:\n" + "\n".join(unlisted(results))
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
    asked = [line for lines in tables().values() for line in lines if isinstance(line, OddRequest)]
    assert len(asked) >= AT_LEAST
    apis = Counter(line.kind.api_key for line in asked)
    assert [REQUESTS[key][1] for key in ANSWERS if not apis[key]] == []


def test_each_row_of_the_page_has_a_reason_and_is_there_once() -> None:
    rows = listed()
    assert rows
    assert [row for row, times in Counter((name, path) for name, path, _ in rows).items() if times > 1] == []
