"""Deletes the records before an offset (KIP-107), each partition at its leader."""

from __future__ import annotations

from kcli import codes
from kcli.asking.controller import ask_controller
from kcli.asking.fan_out import PATIENCE, gather
from kcli.asking.leaders import Leaders
from kcli.errors import BrokerError, KcliError
from kcli.model import TopicPartition
from kcli.proto.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kcli.proto.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.grammar.bound import Bound
    from kcli.model import Broker, Cluster


async def delete_records(
    cluster: Cluster, before: Mapping[TopicPartition, int], *, patience: float = PATIENCE
) -> dict[TopicPartition, int | KcliError]:
    """Delete the records before each offset; return the new start of each log. The request is idempotent, so retriable
    errors are retried."""

    async def ask(broker: Broker, some: list[TopicPartition]) -> dict[TopicPartition, int | KcliError]:
        topics: dict[str, DeleteRecordsTopic] = {}
        for at in some:
            topic = topics.setdefault(at.topic, DeleteRecordsTopic(name=at.topic))
            topic.partitions.append(DeleteRecordsPartition(partition_index=at.partition, offset=before[at]))
        answer = await broker.ask(DeleteRecordsRequest(topics=list(topics.values()), timeout_ms=30_000))
        results: dict[TopicPartition, int | KcliError] = {}
        for row in answer.topics:
            for part in row.partitions:
                at = TopicPartition(row.name, part.partition_index)
                name = f"{at.topic} [{at.partition}]"
                if part.error_code:
                    code, api = codes.of(part.error_code), DeleteRecordsRequest.api_key
                    results[at] = BrokerError(code, name, api=api, topic=at.topic)
                else:
                    results[at] = part.low_watermark
        return results

    return await gather(before, Leaders(cluster), ask, patience=patience)


def new_start(where: Bound, ends: tuple[int, int], found: int | None) -> tuple[int, str]:
    """Return where a log with these ends (start, end) will begin after deleting the records before a place, and a note
    if the place is past the end. `found` is the offset that was looked up for a time (-1: none) or the last N records.
    """
    start, end = ends
    looked_up = end if found is None or found < 0 else found
    wanted = {
        "earliest": start,
        "latest": end,
        "offset": where.value,
        "relative": looked_up,
        "from_start": start + where.value,
        "time": looked_up,
    }[where.kind]
    return min(max(wanted, start), end), f"clamped: {wanted} is past the log's end" if wanted > end else ""


async def grow_topics(
    cluster: Cluster, counts: Mapping[str, int], *, dry_run: bool = False
) -> dict[str, KcliError | None]:
    """Increase each topic to that number of partitions, or with `dry_run` let the controller validate it. The result is
    None on success."""
    if not counts:
        return {}
    topics = [CreatePartitionsTopic(name=name, count=count, assignments=None) for name, count in counts.items()]
    request = CreatePartitionsRequest(topics=topics, timeout_ms=30_000, validate_only=dry_run)
    answer = await ask_controller(cluster, request, lambda answer: [row.error_code for row in answer.results])
    errors: dict[str, KcliError | None] = {}
    for row in answer.results:
        code, name = codes.of(row.error_code), row.name
        failed = BrokerError(code, name, row.error_message, api=request.api_key, topic=name) if code else None
        errors[name] = failed
    return {
        name: errors.get(name, KcliError(f"{name}: the broker's response does not contain this topic"))
        for name in counts
    }
