"""`kcli logdirs`: what is on the disks of the brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.storage.log_dirs import LogDir, ReplicaSize, log_dirs
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.asking.leaders import TopicMissing
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, missing
from kcli.errors import UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values


def directories(values: Values) -> int:
    """`kcli logdirs list`."""
    brokers = _brokers(values)

    async def work(cluster: Cluster, document: Document) -> None:
        places = await _found(cluster, document, None, brokers)
        document.rows["directories"] = [
            {
                "broker": place.broker,
                "directory": place.directory,
                "replicas": len(place.replicas),
                "size": place.size,
                "free": place.usable if place.usable >= 0 else None,
                "total": place.total if place.total >= 0 else None,
                "cordoned": place.cordoned,
                "error": None if place.error is None else str(place.error),
            }
            for place in places
        ]

    return answer(values, "logdirs.list", work)


def replicas(values: Values) -> int:
    """`kcli logdirs replicas`."""
    brokers, names = _brokers(values), values["topics"]

    async def work(cluster: Cluster, document: Document) -> None:
        topics = None
        if names:
            topics = {}
            for name, found in (await describe_topics(cluster, names)).items():
                if isinstance(found, Topic):
                    topics[name] = [one.partition for one in found.partitions]
                elif isinstance(found, TopicMissing):
                    missing(document, name, found, await describe_topics(cluster, internal=False))
                else:
                    document.fail(found, name)
        places = await _found(cluster, document, topics, brokers)
        made = _added([one for place in places for one in place.replicas], values["by"] or "replica")
        document.rows["replicas"] = sorted(made, key=lambda row: _order(row, values["sort"]))

    return answer(values, "logdirs.replicas", work)


async def _found(
    cluster: Cluster, document: Document, topics: dict[str, list[int]] | None, brokers: list[int] | None
) -> list[LogDir]:
    """The directories; what could not be told is in the document."""
    places, failed = await log_dirs(cluster, topics, brokers=brokers)
    for broker, error in failed.items():
        document.fail(error, f"broker {broker}")
    for place in places:
        if place.error is not None:
            document.fail(place.error, place.directory)
    return places


def _added(some: list[ReplicaSize], by: str) -> list[Row]:
    """A row per replica, or the sum by topic or broker; what is not the same in a sum is null."""
    if by == "replica":
        return [
            {
                "broker": one.broker, "directory": one.directory, "topic": one.topic, "partition": one.partition,
                "replicas": 1, "size": one.size, "behind": one.offset_lag, "moving": one.future,
            }
            for one in some
        ]  # fmt: skip
    sums: dict[str | int, Row] = {}
    for one in some:
        key: str | int = one.topic if by == "topic" else one.broker
        row = sums.setdefault(key, {
            "broker": one.broker if by == "broker" else None, "directory": None,
            "topic": one.topic if by == "topic" else None, "partition": None,
            "replicas": 0, "size": 0, "behind": 0, "moving": False,
        })  # fmt: skip
        row["replicas"] += 1
        row["size"] += one.size
        row["behind"] += one.offset_lag
        row["moving"] = row["moving"] or one.future
    return list(sums.values())


def _order(row: Row, by: str | None) -> tuple[object, ...]:
    place = (row["broker"] or 0, row["topic"] or "", row["partition"] or 0)
    if by == "size":
        return -row["size"], *place
    return (row["topic"] or "", *place) if by == "topic" else place


def _brokers(values: Values) -> list[int] | None:
    for word in values["brokers"]:
        if not word.isdecimal():
            raise UsageError(f"--broker {word}: a broker is named by its id, such as 1")
    return [int(word) for word in values["brokers"]] or None
