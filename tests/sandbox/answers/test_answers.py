"""What the sandbox answers to odd requests is what Apache Kafka answers, and it keeps nobody waiting for long."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from kcli import codes
from kcli.proto.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.proto.messages.share_acknowledge import ShareAcknowledgeRequest
from kcli.proto.messages.share_fetch import FetchPartition, FetchTopic, ShareFetchRequest
from kcli.sandbox import Sandbox
from tests.sandbox.client import Peer
from tests.sandbox.scenes import SCENES, Scene


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
async def test_odd_requests_are_answered_as_kafka_does(scene: Scene) -> None:
    async with Sandbox(auto_create=False) as sandbox, Peer(sandbox) as peer:
        rows = await scene(peer, "x")
    assert [(what, came.name) for what, _, came in rows] == [(what, expected.name) for what, expected, _ in rows]


async def test_a_group_of_another_kind_shares_nothing() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        sandbox.cluster.groups.modern("g", make=True)
        topics = [FetchTopic(topic_id=sandbox.topics.by_name["t"].id, partitions=[FetchPartition(partition_index=0)])]
        fetch = ShareFetchRequest(
            group_id="g", member_id="m", share_session_epoch=0, max_wait_ms=1, max_records=1, topics=topics
        )
        (row,) = (await peer.ask(fetch)).responses[0].partitions
        assert codes.of(row.error_code) is codes.UNKNOWN_SERVER_ERROR
        told = await peer.ask(ShareAcknowledgeRequest(group_id="g", member_id="m", share_session_epoch=0))
        assert codes.of(told.error_code) is codes.INVALID_SHARE_SESSION_EPOCH
        await peer.ask(MetadataRequest(topics=[]))


@pytest.mark.slow
@pytest.mark.parametrize("api", ["CreateTopics", "Metadata"])
async def test_others_are_answered_while_many_topics_are_made(api: str) -> None:
    """A connection asks for thousands; four others are answered again and again before that is done."""
    names = [f"n{n}" for n in range(4_000)]
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    many = (
        CreateTopicsRequest(topics=topics)
        if api == "CreateTopics"
        else MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])
    )
    async with Sandbox() as sandbox, contextlib.AsyncExitStack() as peers:
        greedy, *others = [await peers.enter_async_context(Peer(sandbox)) for _ in range(5)]
        asking = asyncio.ensure_future(greedy.ask(many))
        seen = set()

        async def ask_on(peer: Peer) -> None:
            while not asking.done():
                await peer.ask(MetadataRequest(topics=[]))
                seen.add(len(sandbox.topics.by_name))

        await asyncio.gather(*map(ask_on, others))
        assert len((await asking).topics) == len(names)
    assert len(seen - {0, len(names)}) >= 3, seen


@pytest.mark.slow
async def test_30000_names_at_once_are_refused_and_nothing_is_made() -> None:
    topics = [CreatableTopic(name=f"n{n}", num_partitions=1, replication_factor=1) for n in range(30_000)]
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        told = await peer.ask(CreateTopicsRequest(topics=topics))
        assert {row.error_code for row in told.topics} == {44}
        asked = [MetadataRequestTopic(name=f"n{n}") for n in range(30_000)]
        told = await peer.ask(MetadataRequest(topics=asked))
        assert {row.error_code for row in told.topics} == {3}
        assert not sandbox.topics.by_name
