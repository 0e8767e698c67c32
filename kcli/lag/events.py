"""Events of a group: the differences between two refreshes, a sentence each. No I/O."""

from __future__ import annotations

from kcli.admin.groups.groups import who
from kcli.text.numbers import counted
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.groups.rows import Described
    from kcli.lag.partition_lag import PartitionFigures


class Event(Value):
    """A change between two refreshes. `time` is that of the second one, in seconds since the epoch. `kind` is status,
    state, joined, left, rewound, lost, generation or gone. `partition` -1 means several partitions, or the group;
    `offsets` is the number of offsets lost, or to be read again."""

    time: float = 0.0
    group: str = ""
    kind: str = ""
    text: str = ""
    topic: str = ""
    partition: int = -1
    offsets: int = 0


def of_partition(time: float, before: PartitionFigures | None, now: PartitionFigures) -> list[Event]:
    """Return rewinds, and offsets lost to retention; the text omits the partition's name."""
    if before is None:
        return []
    sample = now.lag.sample
    changes: list[tuple[str, str, int]] = []
    if now.rewound is not None and now.rewound != before.rewound:
        begun, ended = now.rewound
        changes.append(("rewound", f"committed went back from {begun} to {ended}", begun - ended))
    lost = now.lag.lost - before.lag.lost
    if lost > 0:
        changes.append(("lost", f"retention deleted {counted(lost, 'unread offset')}", lost))
    return [
        Event(
            time=time,
            group=sample.group,
            kind=kind,
            text=text,
            topic=sample.topic,
            partition=sample.partition,
            offsets=offsets,
        )
        for kind, text, offsets in changes
    ]


def of_group(time: float, before: Described, now: Described | None) -> list[Event]:
    """Return members that joined or left, and changes of the group's state; `now` None: the group is gone."""
    if now is None:
        return [Event(time=time, group=before.group, kind="gone", text="the group is gone")]
    changes: list[tuple[str, str]] = []
    old, new = ({member.member_id: member for member in described.members} for described in (before, now))
    for kind, here, there in (("left", old, new), ("joined", new, old)):
        changes += [(kind, f"{who(here[member_id])} {kind}") for member_id in sorted(here.keys() - there.keys())]
    if now.state != before.state:
        changes.append(("state", f"{before.state} is now {now.state}"))
    if now.epoch is not None and before.epoch is not None and now.epoch > before.epoch:
        changes.append(("generation", f"group epoch {before.epoch} is now {now.epoch}"))
    return [Event(time=time, group=now.group, kind=kind, text=text) for kind, text in changes]
