"""kcat -L: brokers, topics, partitions; kcat -Q: offsets by time. Text and JSON byte for byte as kcat prints them."""

from __future__ import annotations

import os

from kcli import codes
from kcli.cli.commands.cat.output.json import text as quoted
from kcli.cli.commands.cat.parsing.words import Fatal, broker_words
from kcli.errors import BrokerError, KcliError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.cli.commands.cat.parsing.line import CommandLine
    from kcli.cli.runtime.signals import Stop
    from kcli.client import Client
    from kcli.model import Node
    from kcli.proto.messages.metadata import MetadataResponse, MetadataResponsePartition, MetadataResponseTopic


async def list_metadata(line: CommandLine, stop: Stop) -> int:
    """-L. Raises Fatal."""
    from kcli.client import Client

    async with Client(line.settings.client()) as client:
        try:
            response = await stop.unless(_ask(line, client))
        except KcliError as problem:
            raise Fatal(
                f"Failed to acquire metadata: {problem} (Are the brokers reachable? "
                "Also try increasing the metadata timeout with -m <timeout>?)"
            ) from None
        if response is not None:
            _write(_json(line, *response) if line.json else _text(line, *response), json=line.json)
    return 0


async def _ask(line: CommandLine, client: Client) -> tuple[Node, MetadataResponse]:
    """Metadata, and the broker that answered."""
    from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic

    topics = None if line.topic is None else [MetadataRequestTopic(name=line.topic)]
    broker = await client.cluster.anyone()
    answer = await broker.ask(MetadataRequest(topics=topics, allow_auto_topic_creation=True))
    for node in await client.cluster.nodes():
        if node.id == broker.node_id:
            return node, answer
    raise KcliError(f"broker {broker.node_id} answered, but the cluster's metadata does not list it")


def _text(line: CommandLine, by: Node, metadata: MetadataResponse) -> bytes:
    named = line.topic if line.topic is not None else "all topics"
    lines = [f"Metadata for {named} (from broker {by.id}: {by.host}:{by.port}/{by.id}):"]
    lines.append(f" {len(metadata.brokers)} brokers:")
    for broker in sorted(metadata.brokers, key=lambda broker: broker.node_id):
        controller = " (controller)" if broker.node_id == metadata.controller_id else ""
        lines.append(f"  broker {broker.node_id} at {broker.host}:{broker.port}{controller}")
    lines.append(f" {len(metadata.topics)} topics:")
    for topic in metadata.topics:
        error = _error(topic.error_code)
        again = " (try again)" if topic.error_code == codes.LEADER_NOT_AVAILABLE.number else ""
        lines.append(
            f'  topic "{topic.name}" with {len(topic.partitions)} partitions:{f" {error}{again}" if error else ""}'
        )
        for one in _partitions(topic):
            wrong = _error(one.error_code)
            lines.append(
                f"    partition {one.partition_index}, leader {one.leader_id}, "
                f"replicas: {_numbers(one.replica_nodes)}, isrs: {_numbers(one.isr_nodes)}"
                f"{f', {wrong}' if wrong else ''}"
            )
    return os.fsencode("\n".join(lines) + "\n")


def _json(line: CommandLine, by: Node, metadata: MetadataResponse) -> bytes:
    brokers = b",".join(
        b'{"id":%d,"name":%b}' % (broker.node_id, quoted(f"{broker.host}:{broker.port}"))
        for broker in sorted(metadata.brokers, key=lambda broker: broker.node_id)
    )
    who = b'{"id":%d,"name":%b}' % (by.id, quoted(f"{by.host}:{by.port}/{by.id}"))
    asked = b'{"topic":%b}' % quoted(line.topic if line.topic is not None else "*")
    head = b'{"originating_broker":%b,"query":%b,"controllerid":%d,' % (who, asked, metadata.controller_id)
    return head + b'"brokers":[%b],"topics":[%b]}' % (brokers, b",".join(map(_topic, metadata.topics)))


def _topic(topic: MetadataResponseTopic) -> bytes:
    error = _error(topic.error_code)
    wrong = b',"error":%b' % quoted(error) if error else b""
    rows = []
    for partition in _partitions(topic):
        bad = _error(partition.error_code)
        rows.append(
            b'{"partition":%d%b,"leader":%d,"replicas":[%b],"isrs":[%b]}'
            % (partition.partition_index, b',"error":%b' % quoted(bad) if bad else b"", partition.leader_id,
               _ids(partition.replica_nodes), _ids(partition.isr_nodes))
        )  # fmt: skip
    return b'{"topic":%b%b,"partitions":[%b]}' % (quoted(topic.name or ""), wrong, b",".join(rows))


def _partitions(topic: MetadataResponseTopic) -> list[MetadataResponsePartition]:
    return sorted(topic.partitions, key=lambda partition: partition.partition_index)


def _numbers(nodes: Iterable[int]) -> str:
    return ",".join(map(str, nodes))


def _ids(nodes: Iterable[int]) -> bytes:
    return b",".join(b'{"id":%d}' % node for node in nodes)


def _error(code: int) -> str:
    return broker_words(code, codes.of(code).text) if code else ""


async def query(line: CommandLine, stop: Stop) -> int:
    """-Q. Raises Fatal."""
    from kcli.asking.offsets import list_offsets
    from kcli.client import Client

    wanted = {TopicPartition(topic, partition): moment for topic, partition, moment in line.asked}
    async with Client(line.settings.client()) as client:
        for at in wanted:
            try:
                there = await client.cluster.partitions(at.topic)
            except BrokerError:
                there = ()
            if at.partition not in there:
                raise Fatal(f"offsets_for_times failed: {at.topic} [{at.partition}]: Local: Unknown partition")
        patience = client.settings.deadline
        answers = await stop.unless(list_offsets(client.cluster, wanted, patience=patience, wait_for_leaders=True))
    rows = []
    for at, answer in sorted((answers or {}).items()):
        if isinstance(answer, KcliError):
            raise Fatal(f"offsets_for_times failed: {answer}")
        rows.append((at, answer.offset))
    if line.json:
        _write(_offsets_json(rows), json=True)
    else:
        lines = "".join(f"{at.topic} [{at.partition}] offset {offset}\n" for at, offset in rows)
        _write(os.fsencode(lines), json=False)
    return 0


def _offsets_json(rows: list[tuple[TopicPartition, int]]) -> bytes:
    topics: dict[str, list[bytes]] = {}
    for at, offset in rows:
        row = b'"%d":{"partition":%d,"offset":%d}' % (at.partition, at.partition, offset)
        topics.setdefault(at.topic, []).append(row)
    parts = [b'%b:{"topic":%b,%b}' % (quoted(name), quoted(name), b",".join(some)) for name, some in topics.items()]
    return b"{%b}" % b",".join(parts)


def _write(data: bytes, *, json: bool) -> None:
    """To stdout; a terminal is shown what it would obey in names."""
    if os.isatty(1):
        from kcli.text.escape import visible_bytes, visible_json

        data = visible_json(data) if json else visible_bytes(data, keep="\n")
    with memoryview(data) as left:
        done = 0
        while done < len(left):
            done += os.write(1, left[done:])
