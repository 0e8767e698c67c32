"""`kcli leaders`: who leads though another should, and elections with a plan."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kcli.admin.cluster.elections import elect_leaders
from kcli.admin.reassign.reassignments import about
from kcli.admin.topics.topics import Partition, Topic, describe_topics
from kcli.backoff import Backoff, repeat
from kcli.cli.commands.reassign.partitions_chosen import Chosen, chosen
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, confirm, excluding, plural, say
from kcli.errors import KcliError
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

Found = dict[TopicPartition, Partition]

PATIENCE = 5.0  # seconds until brokers have heard of a new leader
PAUSE = 0.05


def show(values: Values) -> int:
    """`kcli leaders list`."""
    everything = Chosen([], everything=True, internal=values["internal"])

    async def work(cluster: Cluster, document: Document) -> None:
        found = await everything.find(cluster, document)
        document.rows["partitions"] = [
            {
                "topic": at.topic,
                "partition": at.partition,
                "leader": None if one.leader < 0 else one.leader,
                "preferred": one.replicas[0] if one.replicas else None,
                "replicas": one.replicas,
                "isr": one.isr,
                "note": _why_not(one) or None,
            }
            for at, one in found.items()
            if not _preferred(one)
        ]
        if not document.rows["partitions"]:
            say(values, f"{plural(len(found), 'partition')}: all are led by their preferred replica")

    return answer(values, "leaders.list", work)


def _preferred(one: Partition) -> bool:
    return bool(one.replicas) and one.leader == one.replicas[0]


def _why_not(one: Partition) -> str:
    """Why the preferred replica cannot lead now."""
    if one.replicas and one.replicas[0] in one.offline:
        return f"broker {one.replicas[0]} is offline"
    return "" if one.replicas and one.replicas[0] in one.isr else "the preferred replica is not in sync"


def elect(values: Values) -> int:
    """`kcli leaders elect`."""
    some, unclean = chosen(values), values["unclean"]
    excluding(values)

    async def work(cluster: Cluster, document: Document) -> int | None:
        found = await some.find(cluster, document)
        needed = {at: one for at, one in found.items() if (one.leader < 0 if unclean else not _preferred(one))}
        rows = {at: _planned(one, at in needed, unclean) for at, one in found.items()}
        document.rows["partitions"] = [row for at, row in rows.items() if at in needed or not some.everything]
        if not needed:
            if found or not document.errors:
                say(values, f"{plural(len(found), 'partition')}: no election is needed")
            return None
        if unclean:
            say(
                values,
                f"WARNING: an unclean election of {plural(len(needed), 'partition')} loses the records that only the "
                "missing replicas have, for good. If a broker can come back, let it.",
            )
        if values["dry_run"]:
            return None
        if not confirm(values, document, "unclean" if unclean else _phrase(needed)):
            document.rows.clear()
            return 1
        done = await elect_leaders(cluster, needed, unclean=unclean)
        now = await _heard(cluster, {at: needed[at] for at, outcome in done.items() if outcome is True})
        for at, outcome in done.items():
            row = rows[at]
            if isinstance(outcome, KcliError):
                row["result"], row["new"], row["error"] = "failed", row["old"], str(outcome)
                document.fail(outcome, about(at))
            else:
                row["result"], row["new"] = "elected" if outcome else "not needed", now.get(at, row["new"])
        say(values, f"{plural(sum(one is True for one in done.values()), 'leader')} elected")
        return None

    return answer(values, "leaders.elect", work)


def _phrase(needed: Found) -> str:
    topics = sorted({at.topic for at in needed})
    return topics[0] if len(topics) == 1 else f"elect {plural(len(needed), 'leader')}"


def _planned(one: Partition, needed: bool, unclean: bool) -> Row:
    old = None if one.leader < 0 else one.leader
    new = old
    if needed and unclean:
        new = next((node for node in one.replicas if node not in one.offline), None)
    elif needed:
        new = one.replicas[0] if one.replicas else None
    return {
        "topic": one.topic,
        "partition": one.partition,
        "old": old,
        "new": new,
        "replicas": one.replicas,
        "isr": one.isr,
        "result": "would elect" if needed else "not needed",
        "note": (_why_not(one) or None) if needed and not unclean else None,
        "error": None,
    }


async def _heard(cluster: Cluster, elected: Found) -> dict[TopicPartition, int]:
    """The leaders that a broker tells by now, if one does; it may hear of them a little later than the controller."""
    leaders: dict[TopicPartition, int] = {}

    async def heard() -> bool:
        nonlocal leaders
        try:
            topics = (await describe_topics(cluster, {at.topic for at in elected})).values()
        except KcliError:  # they are elected all the same: the plan says who
            return True
        leaders = {
            at: one.leader
            for topic in topics
            if isinstance(topic, Topic)
            for one in topic.partitions
            if (at := TopicPartition(one.topic, one.partition)) in elected and one.leader >= 0
        }
        return all(leaders.get(at, one.leader) != one.leader for at, one in elected.items())

    if elected:
        await repeat(heard, Backoff(PAUSE, PAUSE), asyncio.get_running_loop().time() + PATIENCE)
    return leaders
