"""Kafka's own topics, read with the formats that know their records."""

from __future__ import annotations

import asyncio
import json
import subprocess
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kcli
from tests.kafka.admin.test_streams_groups import StreamsMember
from tests.kafka.artifacts import libs
from tests.kafka.cli.test_names import run
from tests.kafka.cluster import Kafka
from tests.kafka.tools import java

SOURCE = Path(__file__).parents[1] / "CoordinatorRecords.java"


def lines(kafka: Kafka, topic: str, format: str, key: str) -> list[tuple[Any, Any]]:
    """Keys and values of the records whose decoded key matches: other tests write here too."""
    words = ["--key-format", format, "--value-format", format, "-K", "\t", "-Z", "-e", "--key-grep", key]
    found = run(kafka, "consume", topic, *words).out.decode()
    pairs = [line.partition("\t")[::2] for line in found.splitlines()]
    return [(json.loads(key), None if value == "NULL" else json.loads(value)) for key, value in pairs]


def test_committed_offsets_and_transactions(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic, group, transaction = topic_name(), topic_name(), topic_name()
    run(kafka, "topics", "create", topic, "-p", "1")
    run(kafka, "produce", topic, "--value", "a", "--transactional-id", transaction)
    run(kafka, "consume", topic, "-g", group, "--from-beginning", "-e")
    offsets = [
        (key, value)
        for key, value in lines(kafka, "__consumer_offsets", "consumer-offsets", f'"{group}".*"type":"offset"')
        if value is not None
    ]
    assert offsets
    key, value = offsets[-1]
    assert (key["topic"], key["partition"]) == (topic, 0)
    assert value["offset"] >= 1
    states = [
        value["transactionStatus"] for _, value in lines(kafka, "__transaction_state", "transaction-state", transaction)
    ]
    assert states[-1] in ("PrepareCommit", "CompleteCommit")


@pytest.mark.long
def test_records_of_all_kinds_of_groups(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    """Groups of the consumer protocol, share groups and streams groups, as Kafka's own classes read their records."""
    topic = topic_name()
    run(kafka, "topics", "create", topic, "-p", "2")
    run(kafka, "produce", topic, "--value", "a")
    run(kafka, "consume", topic, "-g", f"{topic}-c", "--from-beginning", "-e", "-X", "group.protocol=consumer")
    run(kafka, "consume", topic, "-g", f"{topic}-c2", "--from-beginning", "-n", "1", "-X", "group.protocol=classic")
    run(kafka, "consume", f"~{topic}.*", "-g", f"{topic}-r", "--from-beginning", "-e", "-X", "group.protocol=consumer")
    run(kafka, "consume", topic, "--share-group", f"{topic}-s", "--from-beginning", "-n", "0")
    run(kafka, "consume", topic, "--share-group", f"{topic}-s", "-n", "1")
    asyncio.run(_streams(kafka, f"{topic}-t", topic))
    stored = _stored(kafka, topic)
    decoded = lines(kafka, "__consumer_offsets", "consumer-offsets", f'"{topic}')
    assert len(decoded) == len(stored)
    ours = [value for _, value in decoded if value is not None]
    theirs = _by_kafka([(key, value) for key, value in stored if value is not None])
    assert [_comparable(value) for value in ours] == [_comparable(value) for value in theirs]
    kinds = {key["type"] for key, value in decoded if value is not None}
    assert kinds >= {
        "offset", "group", "consumer-group", "consumer-group-member", "consumer-group-target-assignment",
        "consumer-group-target-assignment-member", "consumer-group-current-assignment", "share-group",
        "share-group-member", "share-group-target-assignment", "share-group-target-assignment-member",
        "share-group-current-assignment", "share-group-state", "streams-group", "streams-group-member",
        "streams-group-topology", "streams-group-target-assignment", "streams-group-target-assignment-member",
        "streams-group-current-assignment",
    }, kinds  # fmt: skip


async def _streams(kafka: Kafka, group: str, source: str) -> None:
    async with kcli.Client(kafka.bootstrap) as client:
        member = StreamsMember(client, group, source)
        await member.join()
        await member.beat(-1)


def _stored(kafka: Kafka, topic: str) -> list[tuple[bytes, bytes | None]]:
    """The records whose key has the topic's name, which all groups here begin with."""
    found = []
    for line in run(kafka, "consume", "__consumer_offsets", "-e", "--envelope").out.decode().splitlines():
        record = json.loads(line)
        key, value = _bytes(record["key"]), _bytes(record["value"])
        if key is not None and topic.encode() in key:
            found.append((key, value))
    return found


def _bytes(field: Any) -> bytes | None:
    if isinstance(field, dict):
        return b64decode(field["base64"])
    return None if field is None else str(field).encode()


def _by_kafka(records: list[tuple[bytes, bytes]]) -> list[Any]:
    text = "".join(f"{key.hex()} {value.hex()}\n" for key, value in records)
    words = [*java(), "-cp", f"{libs()}/*", str(SOURCE)]
    done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=120, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _comparable(value: Any) -> Any:
    """Kafka leaves out tagged fields with their defaults, and writes bytes as base64 alone."""
    if isinstance(value, list):
        return [_comparable(one) for one in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"base64"}:
        return value["base64"]
    return {name: _comparable(one) for name, one in value.items() if not (name in TAGGED and one in TAGGED[name])}


TAGGED = {
    "topicId": (None, "AAAAAAAAAAAAAAAAAAAAAA"), "assignmentEpochs": (None,), "metadataHash": (0,),
    "classicMemberMetadata": (None,), "assignmentTimestamp": (-1, 0), "validatedTopologyEpoch": (-1, 0),
    "lastAssignmentConfigs": (None,), "expireTimestamp": (-1,),
}  # fmt: skip
"""Values of fields that are written with others only."""
