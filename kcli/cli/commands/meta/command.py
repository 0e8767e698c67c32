"""`kcli meta` and `kcli coord`: what one broker says about the cluster, and who coordinates what. kpax had both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.cluster.metadata import Told, ask_metadata
from kcli.admin.topics.topics import Topic, describe_topics, id_text
from kcli.asking.coordinators import GROUP, SHARE, TRANSACTION, coordinators_of
from kcli.asking.leaders import TopicMissing
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, fail_all
from kcli.errors import BrokerError, KcliError, UsageError
from kcli.model import Cluster, Node, TopicPartition
from kcli.proto.messages.metadata import MetadataResponsePartition

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values


def meta(values: Values) -> int:
    """`kcli meta [TOPIC...]`."""
    names = list(dict.fromkeys(values["words"])) or None

    async def work(cluster: Cluster, document: Document) -> None:
        told = await ask_metadata(cluster, names, broker=values["broker"])
        topics = sorted(told.answer.topics, key=lambda one: one.name or "")
        document.rows["cluster"] = [
            {
                "cluster_id": told.cluster_id,
                "controller": told.controller if told.controller >= 0 else None,
                "told_by": told.told_by,
            }
        ]
        document.rows["brokers"] = [
            {"broker": one.id, "host": one.host, "port": one.port, "rack": one.rack} for one in told.brokers
        ]
        document.rows["topics"] = [
            {
                "topic": one.name or "",
                "topic_id": id_text(one.topic_id) or None,
                "internal": one.is_internal,
                "partitions": len(one.partitions),
                "error": str(told.missing[one.name or ""]) if (one.name or "") in told.missing else None,
            }
            for one in topics
        ]
        document.rows["partitions"] = [
            _partition(told, one.name or "", part)
            for one in topics
            for part in sorted(one.partitions, key=lambda part: part.partition_index)
        ]

        async def known() -> list[str]:
            return list(await describe_topics(cluster, None))

        await fail_all(document, told.missing, TopicMissing, known)

    return answer(values, "meta", work)


def _partition(told: Told, topic: str, part: MetadataResponsePartition) -> Row:
    problem = told.troubled.get(TopicPartition(topic, part.partition_index))
    return {
        "topic": topic,
        "partition": part.partition_index,
        "leader": part.leader_id if part.leader_id >= 0 else None,
        "leader_epoch": part.leader_epoch if part.leader_epoch >= 0 else None,
        "replicas": part.replica_nodes,
        "isr": part.isr_nodes,
        "offline": part.offline_replicas,
        "error": None if problem is None else str(problem),
    }


def coord(values: Values) -> int:
    """`kcli coord [GROUP...] [--txn ID] [--share GROUP:TOPIC:PARTITION]`."""
    wanted = [
        ("group", GROUP, list(dict.fromkeys(values["words"]))),
        ("transaction", TRANSACTION, list(dict.fromkeys(values["txn"]))),
    ]
    shares = [_share(text) for text in dict.fromkeys(values["share"])]
    if not shares and not any(names for _, _, names in wanted):
        raise UsageError("of what? kcli coord GROUP, --txn ID or --share GROUP:TOPIC:PARTITION")

    async def work(cluster: Cluster, document: Document) -> None:
        rows = document.rows["coordinators"] = []
        for kind, number, names in wanted:
            for name, found in (await coordinators_of(cluster, names, number)).items():
                rows.append(_coordinator(document, kind, name, found))
        if not shares:
            return
        topics = await describe_topics(cluster, [topic for _, topic, _ in shares])
        keys: dict[str, str] = {}
        for group, topic, partition in shares:
            known, name = topics[topic], f"{group}:{topic}:{partition}"
            if isinstance(known, Topic):
                keys[f"{group}:{known.topic_id}:{partition}"] = name
            else:
                rows.append(_coordinator(document, "share", name, known))
        for key, found in (await coordinators_of(cluster, keys, SHARE)).items():
            rows.append(_coordinator(document, "share", keys[key], found))

    return answer(values, "coord", work)


def _share(text: str) -> tuple[str, str, int]:
    """A group's name may have a colon, a topic's cannot. Raises UsageError."""
    parts = text.rsplit(":", 2)
    if len(parts) != 3 or not all(parts) or not (parts[2].isascii() and parts[2].isdecimal() and len(parts[2]) < 10):
        raise UsageError(f"--share {text}: expected GROUP:TOPIC:PARTITION")
    return parts[0], parts[1], int(parts[2])


def _coordinator(document: Document, kind: str, name: str, found: Node | KcliError) -> Row:
    if isinstance(found, KcliError):
        if isinstance(found, BrokerError):
            found = BrokerError(found.code, name)  # the key of a share partition has an id in it
        document.fail(found, name)
        return {"kind": kind, "name": name, "coordinator": None, "host": None, "port": None, "error": str(found)}
    return {"kind": kind, "name": name, "coordinator": found.id, "host": found.host, "port": found.port, "error": None}
