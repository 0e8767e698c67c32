"""The assignors against Kafka's own classes (data/JavaAssignments.java made the data), and their invariants."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kcli.consumer.classic.assignors import ASSIGNORS, assign
from kcli.model import TopicPartition
from kcli.proto.consumer_protocol import StickyUserData, Subscription, TopicPartitions, encode_generation

CASES = json.loads((Path(__file__).parent / "data" / "java_assignments.json").read_text())


def _partition(text: str) -> TopicPartition:
    topic, _, number = text.rpartition(":")
    return TopicPartition(topic, int(number))


def _user_data(member: dict[str, Any], owned: list[TopicPartition], assignor: str) -> bytes | None:
    kind = member["user_data"]
    if assignor not in ("sticky", "cooperative-sticky") or kind == 0:
        return None
    if kind == 3:
        return b"\x09"
    if assignor == "cooperative-sticky":
        return encode_generation(member["generation"])
    topics = {at.topic: [other.partition for other in owned if other.topic == at.topic] for at in owned}
    previous = [TopicPartitions(topic=topic, partitions=numbers) for topic, numbers in topics.items()]
    data = StickyUserData(previous_assignment=previous, generation=member["generation"])
    return b"".join(data.encode(kind - 1))


def _subscription(member: dict[str, Any], assignor: str) -> Subscription:
    owned = [_partition(text) for text in member["owned"]]
    hidden = assignor == "cooperative-sticky" and member["user_data"] != 0
    return Subscription(
        topics=member["topics"],
        owned=[] if assignor == "sticky" else owned,
        generation=-1 if hidden else member["generation"],
        rack=member["rack"],
        instance_id=member["instance"],
        user_data=_user_data(member, owned, assignor),
    )


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_E50_every_assignor_answers_as_java_does(assignor: str) -> None:
    assert len(CASES) >= 200
    for number, case in enumerate(CASES):
        members = {member["id"]: _subscription(member, assignor) for member in case["members"]}
        given = assign(assignor, case["topics"], members)
        expected = {name: [_partition(p) for p in share] for name, share in case["assignments"][assignor].items()}
        assert given == expected, f"case {number}"
