"""The source positions of an exactly-once copy: committed offsets of the group `kcli-NAME` in the target cluster, part
of the transactions that wrote the records.

A group can only have offsets of topics in its cluster. If the source's topic is in another cluster, the name of the
target's topic is used instead, and the metadata identifies the source.
"""

from __future__ import annotations

from collections.abc import Mapping

from kcli import codes
from kcli.admin.groups.commits import committed_offsets, write_commits
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster, OffsetAndMetadata, TopicPartition
from kcli.pipeline.log import Log
from kcli.values import Value

Offsets = dict[TopicPartition, int]

BEGUN = "-"
"""The writer of a position that no transaction wrote: where the copy began."""


class Expired(KcliError):
    """The positions of a copy are missing, or belong to another source."""


class StoredPosition(Value):
    """A partition of the source: next offset to write (-1: unknown), the name under which it is stored, and its last
    writer. `made` is the id of the source's topic at that time, "" if unknown."""

    key: TopicPartition = TopicPartition("", -1)
    offset: int = -1
    writer: str = ""
    made: str = ""


def group_of(name: str) -> str:
    """Return the group with the positions."""
    return f"kcli-{name}"


def transactional_id(name: str, at: TopicPartition) -> str:
    """Return the transactional id for this partition of the source, whichever task writes. Topic names contain no
    colon, so no other copy and topic have the same id, which would fence this one."""
    return f"{name}:{at.topic}:{at.partition}"


def written_by(source: str, writer: str, topic_id: str = "") -> str:
    """Return the metadata of a position: its partition, its writer, the id of the source's topic."""
    return f"{source} {writer} {topic_id}".rstrip()


async def positions(
    coordinators: Coordinators, name: str, wanted: Mapping[TopicPartition, str]
) -> dict[TopicPartition, StoredPosition]:
    """Return the positions of these partitions of the source, given with their target topics. Waits for transactions
    that are about to commit some. Raises the first error of a partition, Expired if the name belongs to another source.
    """
    group = group_of(name)
    commits = (await committed_offsets(coordinators, [group], stable=True))[group]
    if isinstance(commits, KcliError):
        raise commits
    standings = {}
    for at, target in wanted.items():
        keys = [at] if target == at.topic else [at, TopicPartition(target, at.partition)]
        for key in keys:
            kept = commits.get(key, OffsetAndMetadata())
            if isinstance(kept, KcliError):
                raise kept
            source, writer, topic_id, *_ = *kept.metadata.split(" "), "", "", ""
            if kept.offset >= 0 and source in ("", at.topic):
                writer = "" if writer == BEGUN else writer
                standings[at] = StoredPosition(key=key, offset=kept.offset, writer=writer, made=topic_id)
                break
            if kept.offset >= 0 and key == keys[-1]:
                raise Expired(
                    f"group {group} already stores the progress of copying {source} under "
                    f"{key.topic}[{key.partition}]: "
                    f"use another name to copy {at.topic}"
                )
        else:
            standings[at] = StoredPosition(key=keys[0] if await _there(coordinators.cluster, at.topic) else keys[-1])
    return standings


async def _there(cluster: Cluster, topic: str) -> bool:
    try:
        await cluster.partitions(topic)
    except BrokerError as problem:
        if problem.code is codes.UNKNOWN_TOPIC_OR_PARTITION:
            return False
        raise
    return True


def begin(
    target: Log,
    name: str,
    starts: Offsets,
    ends: Offsets,
    *,
    targets: Mapping[str, str] | None = None,
    resumed: bool | None = False,
    ids: Mapping[str, str] | None = None,
) -> Offsets:
    """Return where a copy starts to read: at `starts`, or at a stored position.

    `ends` are the ends of the source's logs, `targets` maps the source's topics to the target's (default: the same
    name), `resumed` is whether there is a checkpoint (None: not visible here). Missing positions are written, but not
    for a copy that resumes: in a partition without a position its checkpoint decides, and rows before a position are
    skipped. `ids` are those of the source's topics: a position of another topic with the same name is invalid. Raises
    Expired.
    """
    targets, ids = targets or {}, ids or {}

    async def ask(client: Client) -> Offsets:
        coordinators = Coordinators(client.cluster)
        kept = await positions(coordinators, name, {at: targets.get(at.topic, at.topic) for at in starts})
        known = {at: standing.offset for at, standing in kept.items() if standing.offset >= 0}
        if resumed and starts and not known:
            raise Expired(
                f"group {group_of(name)} no longer has saved progress (it expires if a copy pauses for too long), "
                "so it is unknown what the last batch wrote; start over with another name, or without exactly-once"
            )
        _check_topics(group_of(name), kept, known, ends, ids)
        new = {
            standing.key: OffsetAndMetadata(
                offset=starts[at], metadata=written_by(at.topic, BEGUN, ids.get(at.topic, ""))
            )
            for at, standing in kept.items()
            if at not in known and not (resumed or (resumed is None and known))
        }
        for outcome in (await write_commits(coordinators, group_of(name), new)).values() if new else ():
            if isinstance(outcome, KcliError):
                raise outcome
        return starts | known

    return target.kafka.run(ask)


def _check_topics(
    group: str, kept: Mapping[TopicPartition, StoredPosition], known: Offsets, ends: Offsets, ids: Mapping[str, str]
) -> None:
    """Raise Expired if a stored position belongs to another topic of the same name."""
    beyond = next((at for at, offset in known.items() if offset > ends.get(at, offset)), None)
    if beyond is not None:
        raise Expired(
            f"{beyond.topic}[{beyond.partition}] ends at {ends[beyond]}, but group {group} recorded copying up "
            f"to {known[beyond]}: the topic was recreated; copy it under another name"
        )
    for at, standing in kept.items():
        if standing.made and standing.made != ids.get(at.topic, standing.made):
            raise Expired(
                f"{at.topic} is not the topic that group {group} has copied: it was deleted and recreated "
                f"(topic id {standing.made} then, {ids[at.topic]} now); copy it under another name"
            )
