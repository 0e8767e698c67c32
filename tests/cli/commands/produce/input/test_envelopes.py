"""Envelopes to the producer as columns: the same records as line by line, whatever lines are among them."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from kcli.cli.commands.produce import sending
from kcli.proto import core
from tests.cli.conftest import Shell


def lines(seed: int, many: int) -> list[bytes]:
    """Envelopes as consume writes them, and some that only the reader of lines knows."""
    chance = random.Random(seed)
    made = []
    for n in range(many):
        envelope: dict[str, Any] = {
            "topic": "t", "partition": chance.choice([0, 1, 2, -1]), "offset": n, "timestamp": 1_700_000_000_000 + n,
            "timestamp_type": "create", "key": None, "value": f"v{n}" * (n % 5),
            "headers": [["h", f"{n}"], ["é", None]][: n % 3],
        }  # fmt: skip
        if envelope["partition"] < 0 or n % 3:
            envelope["key"] = chance.choice([f"k{n % 7}", "é\n"])
        if not n % 7:
            envelope["value"] = {"base64": "/wA="}
        if not n % 11:
            envelope["headers"] = {"of": "kcat's help"}  # a way to write them that columns do not know
        if not n % 13:
            made.append(b"  ")
        made.append(json.dumps(envelope).encode())
    return made


def stored(kcli: Shell, topic: str) -> list[Any]:
    """The records of a topic, in the order of their partitions."""
    rows = [json.loads(line) for line in kcli.ok("consume", topic, "-e", "--envelope").splitlines()]
    names = ("partition", "timestamp", "key", "value", "headers")
    return sorted(([row.get(name) for name in names] for row in rows), key=lambda row: row[0])


@pytest.mark.parametrize(
    "options", [(), ("-p", "1"), ("-p", "-1"), ("--timestamp", "1600000000"), ("--on-error", "skip")]
)
@pytest.mark.parametrize("bad", [False, True])
def test_the_same_records_are_stored_as_line_by_line(
    kcli: Shell, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], bad: bool
) -> None:
    text = lines(len(options), 600)
    if bad:
        text[450:450] = [b'{"value": }']
    ways = []
    for columns in (True, False):
        topic = kcli.topic(partitions=3)
        if not columns:
            monkeypatch.setattr("kcli.cli.commands.produce.input.envelopes.in_columns", lambda plan: False)
        done = kcli("produce", topic, "--input", "json", "-v", *options, stdin=b"\n".join(text))
        said = [line for line in done.stderr.splitlines() if b" read: " in line or b"line" in line]
        rows = stored(kcli, topic)
        if "-1" in options:  # where a record without a key goes is a matter of the moment
            rows = sorted((row[2:] if row[2] is None else row for row in rows), key=str)
        ways.append((done.returncode, said, rows))
    assert ways[0] == ways[1]
    assert ways[0][0] == int(bad)


def test_lines_that_are_as_consume_writes_them_are_not_read_one_by_one(
    kcli: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, other = kcli.topic(partitions=2), kcli.topic(partitions=2)
    kcli.ok("produce", topic, "-H", "a=b", "-K:", stdin=b"".join(b"%d:\xff%d\n" % (n, n) for n in range(5000)))
    given = kcli.ok("consume", topic, "-e", "--envelope")
    if core.NAME == "compiled":  # plain Python reads line by line
        monkeypatch.setattr(sending.Sending, "_parsed", lambda *_: pytest.fail("a line was read by itself"))
    kcli.ok("produce", other, "--input", "json", stdin=given)
    assert stored(kcli, other) == stored(kcli, topic)


def test_lines_of_both_kinds_in_turn_are_not_read_in_a_call_each(kcli: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*words: Any) -> Any:
        calls.append(words[1])
        return core.read_envelopes(*words)

    monkeypatch.setattr("kcli.cli.commands.produce.input.envelopes.read_envelopes", counted)
    topic = kcli.topic()
    kcli.ok("produce", topic, "--input", "json", stdin=b'{"value":"a"}\n{"value":"b","headers":{"c":"d"}}\n' * 2000)
    assert len(calls) < 40
    assert len(stored(kcli, topic)) == 4000


@pytest.mark.parametrize("line", [b'{"value":"a","timestamp":-1}\n', b'{"timestamp":-1, "value":"\\u0061"}\n'])
def test_a_record_without_a_timestamp_stays_one(kcli: Shell, line: bytes) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, "--input", "json", stdin=line)
    envelope = kcli.ok("consume", topic, "-e", "--envelope")
    assert json.loads(envelope)["timestamp"] == -1
    kcli.ok("produce", topic, "--input", "json", stdin=envelope)
    assert [row[1] for row in stored(kcli, topic)] == [-1, -1]
