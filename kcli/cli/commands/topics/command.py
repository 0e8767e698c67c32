"""`kcli topics`: list, describe, create, delete."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.admin.configs.topics import topic_configs
from kcli.admin.topics.topics import NewTopic, Topic, create_topics, delete_topics, describe_topics, wait_for_topics
from kcli.asking.fan_out import bad, good
from kcli.asking.leaders import TopicMissing
from kcli.asking.offsets import EARLIEST, LATEST, LogOffset, list_offsets
from kcli.cli.commands.configs.typed import pair
from kcli.cli.runtime.answer import answer, confirm, excluding, fail_all, missing, words_of
from kcli.errors import BrokerError, KcliError, UsageError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.cli.output.render import Document
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values
    from kcli.model import Cluster


def list_topics(values: Values) -> int:
    """`kcli topics list`."""
    keep = _pattern(values["match"])

    async def work(cluster: Cluster, document: Document) -> None:
        found = await describe_topics(cluster, internal=values["internal"])
        for name, error in bad(found).items():
            document.fail(error, name)
        document.rows["topics"] = [facts(topic) for name, topic in good(found).items() if keep(name)]

    return answer(values, "topics.list", work)


def describe(values: Values) -> int:
    """`kcli topics describe TOPIC...`."""
    topics = words_of(values, "TOPIC")

    async def work(cluster: Cluster, document: Document) -> None:
        found = await _found(cluster, topics, document)
        parts = [TopicPartition(p.topic, p.partition) for topic in found.values() for p in topic.partitions]
        await cluster.refresh(list(found))
        configs, starts, ends = await asyncio.gather(
            topic_configs(cluster, found),
            list_offsets(cluster, dict.fromkeys(parts, EARLIEST)),
            list_offsets(cluster, dict.fromkeys(parts, LATEST)),
        )
        for name, error in bad(configs).items():
            document.fail(error, name)
        document.rows["topics"] = [
            {**facts(topic), "configs": good(configs).get(name, {})} for name, topic in found.items()
        ]
        rows = document.rows["partitions"] = []
        for partition in (p for topic in found.values() for p in topic.partitions):
            at = TopicPartition(partition.topic, partition.partition)
            start, end = starts[at], ends[at]
            problem = next((one for one in (start, end) if isinstance(one, KcliError)), None)
            if problem is not None:
                document.fail(problem, f"{at.topic} [{at.partition}]")
            rows.append(
                {
                    "topic": at.topic,
                    "partition": at.partition,
                    "leader": partition.leader if partition.leader >= 0 else None,
                    "leader_epoch": partition.leader_epoch if partition.leader_epoch >= 0 else None,
                    "replicas": partition.replicas,
                    "isr": partition.isr,
                    "offline": partition.offline,
                    "start": start.offset if isinstance(start, LogOffset) else None,
                    "end": end.offset if isinstance(end, LogOffset) else None,
                    "error": str(problem) if problem is not None else None,
                }
            )

    return answer(values, "topics.describe", work)


def create(values: Values) -> int:
    """`kcli topics create TOPIC...`."""
    if values["partitions"] == 0 or values["replicas"] == 0:
        raise UsageError("a topic has at least 1 partition and 1 replica; without the option the broker decides")
    partitions, replicas = (-1 if n is None else n for n in (values["partitions"], values["replicas"]))
    dry_run, configs = values["dry_run"], _configs(values["configs"])
    new = [
        NewTopic(topic=name, partitions=partitions, replication_factor=replicas, configs=configs)
        for name in words_of(values, "TOPIC")
    ]

    async def work(cluster: Cluster, document: Document) -> None:
        done = await create_topics(cluster, new, dry_run=dry_run)
        rows = document.rows["topics"] = []
        for one in new:
            made = done.get(one.topic) or KcliError(f"{one.topic}: the broker's answer leaves this topic out")
            row: Row = {"topic": one.topic, "result": "would create" if dry_run else "created"}
            row |= {"partitions": None, "replicas": None, "configs": configs, "topic_id": None, "error": None}
            rows.append(row)
            if not isinstance(made, KcliError):
                row["partitions"] = made.partitions if made.partitions >= 0 else None
                row["replicas"] = made.replication_factor if made.replication_factor >= 0 else None
                row["topic_id"] = made.topic_id or None
            elif values["if_not_exists"] and isinstance(made, BrokerError) and made.code is codes.TOPIC_ALREADY_EXISTS:
                row["result"] = "exists"
            else:
                if isinstance(made, BrokerError) and made.code is codes.INVALID_CONFIG:
                    await _with_nearest(cluster, made, configs)
                row["result"], row["error"] = "failed", str(made)
                document.fail(made, one.topic)
        if not dry_run and not values["no_wait"]:
            made_now = [row["topic"] for row in rows if row["result"] == "created"]
            await wait_for_topics(cluster, made_now, timeout=_timeout(values))

    return answer(values, "topics.create", work)


def delete(values: Values) -> int:
    """`kcli topics delete TOPIC...`."""
    topics, if_exists, internal = words_of(values, "TOPIC"), values["if_exists"], values["internal"]
    excluding(values)

    async def work(cluster: Cluster, document: Document) -> int | None:
        rows = document.rows["topics"] = await _plan(cluster, topics, if_exists, internal, document)
        ready = [row["topic"] for row in rows if row["result"] == "would delete"]
        if values["dry_run"] or not ready:
            return None
        phrase = ready[0] if len(ready) == 1 else f"delete {len(ready)} topics"
        if not confirm(values, document, phrase):
            document.rows.clear()
            return 1
        done = await delete_topics(cluster, ready)
        for row in rows:
            result = done.get(row["topic"])
            if result is True:
                row["result"] = "deleted"
            elif isinstance(result, TopicMissing) and if_exists:
                row["result"] = "absent"
            elif isinstance(result, KcliError):
                row["result"], row["error"] = "failed", str(result)
                document.fail(result, row["topic"])
        if not values["no_wait"]:
            gone = [row["topic"] for row in rows if row["result"] == "deleted"]
            await wait_for_topics(cluster, gone, gone=True, timeout=_timeout(values))
        return None

    return answer(values, "topics.delete", work)


async def _plan(cluster: Cluster, topics: list[str], if_exists: bool, internal: bool, document: Document) -> list[Row]:
    """A row per topic: whether it can go, and about how many records go with it."""
    found = await describe_topics(cluster, topics)
    parts = [TopicPartition(t.topic, p.partition) for t in good(found).values() for p in t.partitions]
    starts, ends = await asyncio.gather(
        list_offsets(cluster, dict.fromkeys(parts, EARLIEST), patience=1.0),
        list_offsets(cluster, dict.fromkeys(parts, LATEST), patience=1.0),
    )
    spans: dict[str, int | None] = {}
    for at in parts:
        start, end, known = starts[at], ends[at], spans.get(at.topic, 0)
        if known is None or not isinstance(start, LogOffset) or not isinstance(end, LogOffset):
            spans[at.topic] = None  # a part of it would be less than what goes
        else:
            spans[at.topic] = known + end.offset - start.offset
    rows: list[Row] = []
    for name in dict.fromkeys(topics):
        topic = found.get(name) or TopicMissing(name)
        row: Row = {"topic": name, "result": "would delete", "partitions": None, "offsets": None, "error": None}
        rows.append(row)
        if isinstance(topic, TopicMissing) and if_exists:
            row["result"] = "absent"
        elif isinstance(topic, TopicMissing):
            row["result"], row["error"] = "failed", str(topic)
            missing(document, name, topic, await describe_topics(cluster, internal=False))
        elif isinstance(topic, Topic) and topic.internal and not internal:
            error = KcliError(f"{name}: this is Kafka's own topic; --internal if you mean it")
            row["result"], row["error"] = "refused", str(error)
            document.fail(error, name)
        elif isinstance(topic, KcliError):
            row["result"], row["error"] = "failed", str(topic)
            document.fail(topic, name)
        else:
            row["partitions"], row["offsets"] = len(topic.partitions), spans.get(name)
    return rows


async def _found(cluster: Cluster, names: list[str], document: Document) -> dict[str, Topic]:
    """The topics that exist, in the order asked; the others are errors of the document."""
    found = await describe_topics(cluster, names)
    await fail_all(document, bad(found), TopicMissing, lambda: describe_topics(cluster, internal=False))
    return good({name: found[name] for name in dict.fromkeys(names) if name in found})


def _timeout(values: Values) -> float:
    return 30.0 if values["timeout"] is None else float(values["timeout"])


def facts(topic: Topic) -> Row:
    return {
        "topic": topic.topic,
        "partitions": len(topic.partitions),
        "replicas": topic.replication_factor,
        "under_replicated": topic.under_replicated,
        "leaderless": topic.leaderless,
        "internal": topic.internal,
        "topic_id": topic.topic_id or None,
    }


def _pattern(text: str | None) -> Callable[[str], object]:
    """Does a name match? Raises UsageError."""
    if text is None:
        return lambda name: True
    import re

    from kcli.text.patterns import compiled, matcher

    try:
        return matcher(compiled(text), f"--match {text}", whole=True)
    except re.error as wrong:
        raise UsageError(f"--match {text}: {wrong}") from wrong


def _configs(given: list[str]) -> dict[str, str]:
    return dict(pair(text, "--config") for text in given)


async def _with_nearest(cluster: Cluster, problem: BrokerError, configs: dict[str, str]) -> None:
    """Put the config that was probably meant behind a refusal; any topic tells which there are."""
    from kcli.admin.configs.resources import Resource
    from kcli.cli.commands.configs.typed import hinted, nearest

    wrong = next((name for name in configs if name in str(problem)), None)
    there = next(iter(await describe_topics(cluster)), None)
    if wrong is not None and there is not None:
        hinted(problem, await nearest(cluster, Resource("topic", there), wrong))
