"""Which commits of a group may be deleted: those of topics that no member is subscribed to (KIP-496).

That is a rule by topic. So a group at work may lose what it committed of a topic it no longer reads.
"""

from __future__ import annotations

from kcli.admin.groups.groups import some_members
from kcli.admin.groups.reset import Change
from kcli.admin.groups.reset_plan import GroupLive, refuse_parts_of_topics
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.admin.groups.reset_plan import Target
    from kcli.admin.groups.rows import Described, Member
    from kcli.model import TopicPartition


class Subscribed(KcliError):
    """Members are subscribed to the topic."""

    def __init__(self, group: str, topic: str, members: list[Member]) -> None:
        super().__init__(
            f"{group}: {topic} is read by {some_members(members)}; what is committed of it can be deleted when no "
            "member is subscribed to it"
        )


def plan_deletion(target: Target, partitions: Iterable[TopicPartition]) -> list[Change]:
    """A row for each partition. A partition without a commit is unchanged, and no failure."""
    rows: list[Change] = []
    refusals: dict[str, KcliError | None] = {}
    for at in sorted(partitions):
        old = target.commits.get(at)
        row = Change(group=target.group, at=at, share=target.share)
        rows.append(row)
        if at.topic not in refusals:
            refusals[at.topic] = _refusal(target, at.topic)
        if isinstance(old, KcliError):
            row.result, row.error = "failed", old
            continue
        row.old = old if old is not None and old.offset >= 0 else None
        row.error = refusals[at.topic]
        if row.error is not None:
            row.result = "refused"
        else:
            row.result = "would delete" if row.old is not None else "unchanged"
    refuse_parts_of_topics(target, rows)
    return rows


def _refusal(target: Target, topic: str) -> KcliError | None:
    """Why commits of this topic stay; a coordinator has the last word about patterns."""
    group = target.described
    if not isinstance(target.refusal, GroupLive) or group is None:
        return target.refusal
    if group.protocol != "consumer":
        return target.refusal  # subscriptions are known of consumers only
    readers = subscribers(group, topic)
    return Subscribed(target.group, topic, readers) if readers else None


def subscribers(group: Described, topic: str) -> list[Member]:
    """The members that read a topic, as far as they say."""
    return [
        member
        for member in group.members
        if topic in member.topics or any(at.topic == topic for at in member.assignment)
    ]
