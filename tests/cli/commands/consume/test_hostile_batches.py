"""A broker whose batches are broken in their frames: an error that names topic, partition and offset, never a fetch
that is repeated for ever; --skip-corrupt goes on behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kcli.proto.messages.fetch import FetchResponse
from kcli.proto.messages.metadata import MetadataResponse
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell

pytestmark = pytest.mark.usefixtures("leaping_clock")

FOREVER = 1 << 30
COMMANDS = [
    ["consume", "-e"], ["consume", "-n", "6"], ["consume", "-e", "-J"], ["consume", "-e", "--order", "time"], ["count"],
    ["tail", "--no-follow"],
]  # fmt: skip
Break = Callable[[bytes], bytes]


def length(number: int) -> Break:
    return lambda batch: batch[:8] + number.to_bytes(4, "big", signed=True) + batch[12:]


def base_offset(number: int) -> Break:
    return lambda batch: number.to_bytes(8, "big", signed=True) + batch[8:]


V1_SIZE = b"\0" * 7 + b"\2" + (-2).to_bytes(4, "big", signed=True) + b"\0\0\0\0\1\0" + bytes(20)
BROKEN: dict[str, Break] = {
    "length -1": length(-1),
    "length 0": length(0),
    "length 13": length(13),
    "length 2^31-1": length(2**31 - 1),
    "length of more than came": length(70_000),
    "negative base offset": base_offset(-5),
    "impossible base offset": base_offset(2**63 - 1),
    "17 zero bytes": lambda batch: bytes(17),
    "5 zero bytes": lambda batch: bytes(5),
    "v1 size -2": lambda batch: V1_SIZE,
}


def batches_of(records: Any) -> Iterator[bytes]:
    data, at = bytes(records or b""), 0
    while at < len(data):
        end = at + 12 + int.from_bytes(data[at + 8 : at + 12], "big")
        yield data[at:end]
        at = end


class Hostile:
    """Three batches of two records; what the broker answers of the second one is broken, and ends the answer."""

    def __init__(self, broken: Break) -> None:
        self.broken = broken
        self.fetches = 0
        self.sandbox = SandboxThread(topics={"t": 1})
        self.first = b""

    def __enter__(self) -> Hostile:
        self.sandbox.__enter__()
        self.shell = Shell(self.sandbox.bootstrap)
        for lines in (b"a\nb\n", b"c\nd\n", b"e\nf\n"):
            self.shell.ok("produce", "t", stdin=lines)
        self.sandbox.call(lambda inside: inside.faults.planned.plan("alter", "Fetch", self.alter, times=FOREVER))
        return self

    def __exit__(self, *error: Any) -> None:
        self.sandbox.__exit__(*error)

    def alter(self, response: FetchResponse) -> None:
        self.fetches += 1
        for topic in response.responses:
            for row in topic.partitions:
                made = b""
                for batch in batches_of(row.records):
                    self.first = self.first or batch
                    if int.from_bytes(batch[:8], "big") == 2:
                        made += self.broken(batch)
                        break
                    made += batch
                row.records = made


@pytest.mark.timeout(60)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("name", BROKEN)
def test_E5_a_broken_frame_is_named_and_ends_it(name: str, words: list[str]) -> None:
    with Hostile(BROKEN[name]) as broker:
        done = broker.shell(words[0], "t", *words[1:])
        assert done.returncode == 1
        said = done.stderr.decode()
        assert said.startswith("kcli: t[0]: the batch at offset 2 is corrupt: "), said
        assert said.endswith("; --skip-corrupt continues\n")
        assert ("a base offset of " in said) == name.endswith("base offset")  # else asked for again, twice
        assert said.count("\n") == 1
        assert broker.fetches < 20


@pytest.mark.timeout(60)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("name", BROKEN)
def test_E5_skip_corrupt_goes_on_behind_a_broken_frame(name: str, words: list[str]) -> None:
    words = ["4" if word == "6" else word for word in words]
    with Hostile(BROKEN[name]) as broker:
        done = broker.shell(words[0], "t", *words[1:], "--skip-corrupt")
        said = done.stderr.decode()
        assert done.returncode == 0, said
        assert done.stdout.split() == [b"4"] if words[0] == "count" else len(done.stdout.splitlines()) == 4
        assert said.startswith("kcli: t[0]: the batch at offset 2 is corrupt: "), said
        assert said.splitlines()[-1].startswith("kcli: skipped "), said
        assert broker.fetches < 40


@pytest.mark.process
@pytest.mark.timeout(60)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("skip", [False, True])
def test_E5_an_old_batch_again_and_again_is_corrupt_at_the_third(words: list[str], skip: bool) -> None:
    words = ["4" if word == "6" and skip else word for word in words]
    with Hostile(lambda _: b"") as broker:
        broker.broken = lambda _: broker.first
        done = broker.shell(words[0], "t", *words[1:], *(["--skip-corrupt"] if skip else []))
        said = done.stderr.decode()
        assert said.startswith("kcli: t[0]: the batch at offset 2 is corrupt: "), said
        assert done.returncode == (0 if skip else 1), said
        if skip:
            assert done.stdout.split() == [b"4"] if words[0] == "count" else len(done.stdout.splitlines()) == 4
        assert broker.fetches < 40


@pytest.mark.timeout(60)
def test_a_broker_that_calls_itself_minus_one_leads_nothing() -> None:
    def alter(response: MetadataResponse) -> None:
        for broker in response.brokers:
            broker.node_id = -1
        for topic in response.topics:
            for partition in topic.partitions:
                partition.leader_id = -1

    with SandboxThread(topics={"t": 1}) as sandbox:
        sandbox.call(lambda inside: inside.faults.planned.plan("alter", "Metadata", alter, times=FOREVER))
        done = Shell(sandbox.bootstrap)("consume", "t", "-e", "-X", "default.api.timeout.ms=2000")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"kcli: t[0] has no leader; its records are not read\n"
