"""Topics, their partitions, records and configuration, as administrators change them."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kcli.proto.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kcli.proto.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kcli.proto.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kcli.proto.messages.describe_cluster import DescribeClusterRequest
from kcli.proto.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kcli.proto.messages.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest
from kcli.proto.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kcli.sandbox import Sandbox
from tests.sandbox.client import Peer, batch


async def test_topics_are_created_as_asked_or_refused_one_by_one() -> None:
    async with Sandbox(brokers=3) as sandbox, Peer(sandbox) as peer:
        asked = [
            CreatableTopic(name="a", num_partitions=6, replication_factor=2),
            CreatableTopic(name="a b", num_partitions=1, replication_factor=1),
            CreatableTopic(name="b", num_partitions=0, replication_factor=1),
            CreatableTopic(name="c", num_partitions=1, replication_factor=4),
            CreatableTopic(name="d", num_partitions=1, replication_factor=1),
        ]
        asked[-1].configs = [CreatableTopicConfig(name="x", value="1")]
        rows = (await peer.ask(CreateTopicsRequest(topics=asked))).topics
        assert [codes.of(row.error_code) for row in rows] == [
            codes.NONE, codes.INVALID_TOPIC_EXCEPTION, codes.INVALID_PARTITIONS, codes.INVALID_REPLICATION_FACTOR,
            codes.INVALID_CONFIG,
        ]  # fmt: skip
        assert (rows[0].num_partitions, rows[0].replication_factor) == (6, 2)
        assert sorted(p.leader for p in sandbox.topics.by_name["a"].partitions) == [1, 1, 2, 2, 3, 3]
        again = (await peer.ask(CreateTopicsRequest(topics=asked[:1]))).topics[0]
        assert again.error_code == codes.TOPIC_ALREADY_EXISTS.number
        tried = CreateTopicsRequest(topics=[CreatableTopic(name="e", num_partitions=1)], validate_only=True)
        tried.topics[0].replication_factor = 1
        assert (await peer.ask(tried)).topics[0].error_code == 0
        assert list(sandbox.topics.by_name) == ["a"]


async def test_topics_grow_and_go() -> None:
    async with Sandbox(topics={"t": 2}) as sandbox, Peer(sandbox) as peer:
        topic = sandbox.topics.by_name["t"]

        def grow(count: int) -> CreatePartitionsRequest:
            return CreatePartitionsRequest(
                topics=[CreatePartitionsTopic(name="t", count=count, assignments=None)], timeout_ms=1000
            )

        assert (await peer.ask(grow(4))).results[0].error_code == 0
        assert len(topic.partitions) == 4
        assert (await peer.ask(grow(3))).results[0].error_code == codes.INVALID_PARTITIONS.number
        gone = DeleteTopicsRequest(
            topics=[DeleteTopicState(topic_id=topic.id), DeleteTopicState(name="none")], timeout_ms=1000
        )
        rows = (await peer.ask(gone)).responses
        assert [(row.name, row.error_code) for row in rows] == [("t", 0), ("none", 3)]
        assert sandbox.topics.by_name == {}


async def test_a_topic_that_is_named_twice_over_is_not_deleted() -> None:
    """By a name and an id in one row, and by a row for each."""
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        id = sandbox.topics.by_name["t"].id
        both = [DeleteTopicState(name="t", topic_id=id)]
        each = [DeleteTopicState(name="t"), DeleteTopicState(topic_id=id)]
        for states in (both, each):
            (row,) = (await peer.ask(DeleteTopicsRequest(topics=states, timeout_ms=1000))).responses
            assert (row.name, row.topic_id, row.error_code) == ("t", id, codes.INVALID_REQUEST.number)
        assert list(sandbox.topics.by_name) == ["t"]


async def test_records_are_deleted_up_to_an_offset() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(10))
        asked = DeleteRecordsTopic(name="t", partitions=[DeleteRecordsPartition(offset=4)])
        assert (await peer.ask(DeleteRecordsRequest(topics=[asked]))).topics[0].partitions[0].low_watermark == 4
        assert (await peer.fetch(3)).error_code == codes.OFFSET_OUT_OF_RANGE.number
        assert (await peer.fetch(4)).log_start_offset == 4
        asked.partitions[0].offset = 11
        row = (await peer.ask(DeleteRecordsRequest(topics=[asked]))).topics[0].partitions[0]
        assert row.error_code == codes.OFFSET_OUT_OF_RANGE.number


async def test_configs_are_set_appended_deleted_and_described() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:

        async def alter(name: str, operation: int, value: str | None) -> int:
            change = AlterableConfig(name=name, config_operation=operation, value=value)
            resource = AlterConfigsResource(resource_type=2, resource_name="t", configs=[change])
            answer = await peer.ask(IncrementalAlterConfigsRequest(resources=[resource]))
            code: int = answer.responses[0].error_code
            return code

        assert await alter("retention.bytes", 0, "5") == 0
        assert await alter("cleanup.policy", 2, "compact") == 0
        assert await alter("retention.bytes", 0, "many") == codes.INVALID_CONFIG.number
        assert await alter("no.such.config", 0, "1") == codes.INVALID_CONFIG.number
        keys = ["retention.bytes", "cleanup.policy", "segment.ms"]
        resource = DescribeConfigsResource(resource_type=2, resource_name="t", configuration_keys=keys)
        configs = (await peer.ask(DescribeConfigsRequest(resources=[resource]))).results[0].configs
        assert {one.name: (one.value, one.config_source) for one in configs} == {
            "retention.bytes": ("5", 1), "cleanup.policy": ("delete,compact", 1), "segment.ms": ("604800000", 5),
        }  # fmt: skip
        assert await alter("retention.bytes", 1, None) == 0
        assert sandbox.topics.by_name["t"].config("retention.bytes") == "-1"


async def test_the_cluster_describes_itself() -> None:
    async with Sandbox(brokers=2) as sandbox, Peer(sandbox) as peer:
        answer = await peer.ask(DescribeClusterRequest())
        assert (answer.cluster_id, answer.controller_id, len(answer.brokers)) == (sandbox.cluster.id, 1, 2)
        assert len(answer.cluster_id) == 22


async def test_partitions_are_described_page_by_page() -> None:
    async with Sandbox(topics={"a": 3, "b": 2}) as sandbox, Peer(sandbox) as peer:
        seen: list[tuple[str | None, int]] = []
        cursor: Cursor | None = None
        for _ in range(9):
            page = await peer.ask(DescribeTopicPartitionsRequest(response_partition_limit=2, cursor=cursor))
            seen += [(topic.name, p.partition_index) for topic in page.topics for p in topic.partitions]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert seen == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1)]
