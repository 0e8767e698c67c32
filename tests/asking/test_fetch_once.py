"""Session-less Fetch: a request per leader, what did not come asked for again, and an end where nothing comes."""

from __future__ import annotations

from typing import Any

import pytest

from kcli.asking.fetch_once import Place, fetch_once
from kcli.errors import BrokerError, KcliError
from kcli.model import TopicPartition
from kcli.proto.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


class OneBroker:
    """A cluster of one broker that gives `rows[partition]` in turn: bytes of a log, an error code, or nothing more."""

    node_id = 1

    def __init__(self, **rows: list[bytes | int]) -> None:
        self.rows = {int(name[1:]): given for name, given in rows.items()}
        self.asked: list[FetchRequest] = []
        self.caps: list[int | None] = []
        self.refusal = 0

    def leader_id(self, at: TopicPartition) -> int:
        return 1

    def leader_epoch(self, at: TopicPartition) -> int:
        return 7

    def leader_moved(self, at: TopicPartition) -> None:
        """It is always this one."""

    async def node(self, node_id: int) -> OneBroker:
        return self

    async def ask(self, request: FetchRequest, *, max_version: int | None = None) -> FetchResponse:
        self.asked.append(request)
        self.caps.append(max_version)
        parts = []
        for wanted in request.topics[0].partitions:
            given = self.rows[wanted.partition].pop(0) if self.rows[wanted.partition] else b""
            part = PartitionData(partition_index=wanted.partition, records=given if isinstance(given, bytes) else b"")
            part.error_code = given if isinstance(given, int) else 0
            parts.append(part)
        rows = [FetchableTopicResponse(topic="t", partitions=parts)]
        return FetchResponse(error_code=self.refusal, responses=rows)

    async def run(self, *ats: TopicPartition) -> dict[TopicPartition, bytes | KcliError]:
        cluster: Any = self
        wanted = {at: Place(100, 10) for at in ats}
        return await fetch_once(cluster, wanted, read, lambda at, place: b"nothing", at_once=1000, patience=0.3)


def read(at: TopicPartition, part: PartitionData, place: Place) -> bytes | KcliError | Place:
    """Half a batch asks for more room; `m` is a marker, which moves the place."""
    if part.error_code:
        return KcliError(f"{at.partition}: {part.error_code}")
    records = bytes(part.records or b"")
    if records == b"half":
        return place._replace(size=place.size * 8)
    return place._replace(offset=place.offset + 1) if records == b"m" else records or place


async def test_what_did_not_come_is_asked_for_again_with_the_place_that_was_reached() -> None:
    broker = OneBroker(p0=[b"whole"], p1=[b"", b"half", b"m", b"late"])
    assert await broker.run(A, B) == {A: b"whole", B: b"late"}
    rows = [request.topics[0].partitions for request in broker.asked]
    seen = [[(row.partition, row.fetch_offset, row.partition_max_bytes) for row in some] for some in rows]
    assert seen == [[(0, 100, 10), (1, 100, 10)], [(1, 100, 10)], [(1, 100, 80)], [(1, 101, 80)]]


async def test_no_session_is_opened_and_topics_are_named() -> None:
    broker = OneBroker(p0=[b"whole"])
    await broker.run(A)
    (request,) = broker.asked
    assert (request.session_epoch, request.max_wait_ms, request.max_bytes) == (-1, 0, 1000)
    assert request.topics[0].partitions[0].current_leader_epoch == 7
    assert broker.caps == [12], "from version 13 on there are ids only"


async def test_a_partition_that_gives_nothing_ends_and_so_does_one_with_an_error() -> None:
    broker = OneBroker(p0=[], p1=[29])
    answers = await broker.run(A, B)
    assert answers[A] == b"nothing"
    assert str(answers[B]) == "1: 29"
    assert len(broker.asked) == 2, "once more without the one that answered, and then no more"


@pytest.mark.parametrize(("code", "least"), [(29, 1), (56, 2)])
async def test_a_refusal_of_the_whole_is_the_error_of_each_and_asked_again_where_it_may_pass(
    code: int, least: int
) -> None:
    broker = OneBroker(p0=[], p1=[])
    broker.refusal = code
    answers = await broker.run(A, B)
    assert [type(answer) for answer in answers.values()] == [BrokerError, BrokerError]
    assert len(broker.asked) >= least
    assert least > 1 or len(broker.asked) == 1
