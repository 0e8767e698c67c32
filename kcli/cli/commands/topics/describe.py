"""`kcli topics describe`."""

from __future__ import annotations

import asyncio

from kcli.admin.configs.topics import topic_configs
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.asking.fan_out import bad, good
from kcli.asking.leaders import TopicMissing
from kcli.asking.offsets import EARLIEST, LATEST, LogOffset, list_offsets
from kcli.cli.commands.topics.list import topic_row
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions
from kcli.cli.runtime.answer import answer, fail_all, words_of
from kcli.errors import KcliError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.topics.topics import Partition
    from kcli.cli.output.render import Document
    from kcli.cli.output.shapes.shape import Row
    from kcli.model import Cluster


@command(
    "topics describe",
    help="Partitions, offsets and configs of topics.",
    words="TOPIC",
    examples="""
kcli topics describe orders
kcli topics describe orders -J | jq '.topics[].configs'""",
)
def describe(options: OutputOptions) -> int:
    """Print partitions with leader, replicas and offsets, and the topics with the configs set on them."""
    names = words_of(options, "TOPIC")

    async def work(cluster: Cluster, document: Document) -> None:
        topics = await _existing(cluster, names, document)
        partitions = {TopicPartition(p.topic, p.partition): p for topic in topics.values() for p in topic.partitions}
        await cluster.refresh(list(topics))
        configs, starts, ends = await asyncio.gather(
            topic_configs(cluster, topics),
            list_offsets(cluster, dict.fromkeys(partitions, EARLIEST)),
            list_offsets(cluster, dict.fromkeys(partitions, LATEST)),
        )
        for name, error in bad(configs).items():
            document.fail(error, name)
        document.rows["topics"] = [
            {**topic_row(topic), "configs": good(configs).get(name, {})} for name, topic in topics.items()
        ]
        rows = document.rows["partitions"] = []
        for at, partition in partitions.items():
            row = _partition_row(partition, starts[at], ends[at])
            problem = next((answer for answer in (starts[at], ends[at]) if isinstance(answer, KcliError)), None)
            if problem is not None:
                document.fail(problem, f"{at.topic} [{at.partition}]")
            rows.append({**row, "error": str(problem) if problem is not None else None})

    return answer(options, "topics.describe", work)


async def _existing(cluster: Cluster, names: list[str], document: Document) -> dict[str, Topic]:
    """The topics that exist, in the order asked; the others are errors of the document."""
    topics = await describe_topics(cluster, names)
    await fail_all(document, bad(topics), TopicMissing, lambda: describe_topics(cluster, internal=False))
    return good({name: topics[name] for name in dict.fromkeys(names) if name in topics})


def _partition_row(partition: Partition, start: LogOffset | KcliError, end: LogOffset | KcliError) -> Row:
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "leader": partition.leader if partition.leader >= 0 else None,
        "leader_epoch": partition.leader_epoch if partition.leader_epoch >= 0 else None,
        "replicas": partition.replicas,
        "isr": partition.isr,
        "offline": partition.offline,
        "start": start.offset if isinstance(start, LogOffset) else None,
        "end": end.offset if isinstance(end, LogOffset) else None,
    }
