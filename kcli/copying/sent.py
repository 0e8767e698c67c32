"""Which dead letters were sent back, stored in the metadata of committed offsets.

An offset alone shows how far a redrive has read. A redrive with a filter reads more than it sends, so a later one
without the filter has to know the offsets that were sent: `redriven 0:120+10,5,31+2` means 120 to 129, 135, and 167 to
168. Brokers limit metadata to 4,096 bytes (offset.metadata.max.bytes); the oldest offsets are dropped to fit, and the
number before the colon is the offset below which they are unknown.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from kcli.admin.groups.commits import committed_offsets
from kcli.admin.groups.groups import list_groups
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import good
from kcli.errors import KcliError
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.values import Value, field

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.model import Cluster

LIMIT = 4_000  # characters
WRITTEN = re.compile(r"redriven (\d{1,19}):((?:\d{1,19}(?:\+\d{1,19})?(?:,(?=\d)|$))*)")


class Sent:
    """Sent offsets of one partition, as runs in order. The list is complete from `complete_from` on; offsets below it
    may have been sent without being listed."""

    def __init__(self, complete_from: int = 0) -> None:
        self.complete_from = complete_from
        self._starts: list[int] = []
        self._stops: list[int] = []

    def __contains__(self, offset: int) -> bool:
        place = bisect_right(self._starts, offset) - 1
        return place >= 0 and offset < self._stops[place]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self._starts, self._stops, strict=True)

    def add(self, start: int, stop: int) -> None:
        """Add a run. It is merged with adjacent ones."""
        first, last = bisect_left(self._stops, start), bisect_right(self._starts, stop)
        if first < last:
            start, stop = min(start, self._starts[first]), max(stop, self._stops[last - 1])
        self._starts[first:last], self._stops[first:last] = [start], [stop]

    def merge(self, other: Sent) -> None:
        self.complete_from = max(self.complete_from, other.complete_from)
        for start, stop in other:
            self.add(start, stop)

    def text(self) -> str:
        """Return the metadata. Runs that do not fit are dropped."""
        parts: list[str] = []
        size = 0
        for place in reversed(range(len(self._starts))):
            start, stop = self._starts[place], self._stops[place]
            gap = start - max(self.complete_from, self._stops[place - 1] if place else 0)
            part = f"{gap}+{stop - start}" if stop - start > 1 else f"{gap}"
            size += len(part) + 1
            if size > LIMIT or start < self.complete_from:
                self.complete_from = max(self.complete_from, stop)
                del self._starts[: place + 1], self._stops[: place + 1]
                break
            parts.append(part)
        return f"redriven {self.complete_from}:{','.join(reversed(parts))}"


def read_sent(commit: OffsetAndMetadata) -> Sent:
    """Return the offsets in the metadata of a commit. Without metadata, the list is complete from the committed offset
    on."""
    written = WRITTEN.fullmatch(commit.metadata)
    if written is None:
        return Sent(max(commit.offset, 0))
    sent = Sent(int(written[1]))
    at = sent.complete_from
    for part in filter(None, written[2].split(",")):
        gap, _, length = part.partition("+")
        start = at + int(gap)
        at = start + int(length or 1)
        sent.add(start, at)
    return sent


class PriorRedrives(Value):
    """What earlier redrives of a topic sent; `unknown` has, by group and partition, the offset below which they may
    have sent more. `unlisted` is the error of a broker that did not list its groups."""

    sent: dict[TopicPartition, Sent] = field(factory=dict)
    unknown: dict[tuple[str, TopicPartition], int] = field(factory=dict)
    unlisted: KcliError | None = None


async def sent_before(cluster: Cluster, topic: str, own: str) -> PriorRedrives:
    """Return what redrives of a dead-letter topic sent under names other than `own`. Groups that never had a member may
    store progress, whatever their name. Raises KcliError."""
    listed, failed = await list_groups(cluster)
    before = PriorRedrives(unlisted=next(iter(failed.values()), None))
    names = [row.group for row in listed if not row.protocol and row.group != own]
    default = f"kcli-redrive.{topic}"
    for group, commits in (await committed_offsets(Coordinators(cluster), names)).items():
        for at, commit in good(commits).items() if isinstance(commits, dict) else ():
            ours = group == default or group.startswith(f"{default}.") or commit.metadata.startswith("redriven ")
            if at.topic != topic or commit.offset < 0 or not ours:
                continue
            sent = read_sent(commit)
            before.sent.setdefault(at, Sent()).merge(sent)
            if sent.complete_from:
                before.unknown[group, at] = sent.complete_from
    return before
