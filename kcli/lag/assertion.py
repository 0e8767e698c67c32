"""An assertion over time: no group is more than N offsets or seconds behind, for a given duration.

No I/O: it derives from refreshes whether the assertion holds, is broken, or is undecided.
"""

from __future__ import annotations

from kcli.lag.figures import Breach, over, untold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.lag.figures import Sample
    from kcli.lag.history import GroupStanding
    from kcli.lag.watch import LagSnapshot


class LagAssertion:
    """`max_lag` is in offsets, `max_time` in seconds, None for no limit. It has to hold for `hold` seconds, for each of
    `groups`, or for all groups if none is named."""

    def __init__(
        self,
        max_lag: int | None,
        max_time: float | None,
        hold: float = 0.0,
        *,
        groups: Sequence[str] = (),
    ) -> None:
        self.max_lag, self.max_time, self.hold = max_lag, max_time, hold
        self._named = list(dict.fromkeys(groups))
        self._since: float | None = None

    def broken(self, snapshot: LagSnapshot) -> list[Breach]:
        """Return why it does not hold at this refresh; empty if it holds. With an unknown lag it does not hold."""
        totals = [(group.total, [part.lag for part in group.partitions]) for group in snapshot.groups]
        why = [] if snapshot.failed or snapshot.brokers else untold(totals, self._named, self._limit)
        if self.max_lag is not None:
            why += over(totals, self.max_lag)
        if self.max_time is not None:
            why += [breach for group in snapshot.groups if (breach := _late(group, self.max_time)) is not None]
        return why

    @property
    def _limit(self) -> str:
        return f"max-lag {self.max_lag}" if self.max_lag is not None else f"max-time {self.max_time:g}s"

    def unread(self, snapshot: LagSnapshot) -> list[str]:
        """Return what could not be read of the groups' partitions, a sentence for each kind of problem."""
        samples = [partition.lag.sample for group in snapshot.groups for partition in group.partitions]
        return list(
            dict.fromkeys(
                f"{sample.group}: {_trouble(sample)}" for sample in samples if sample.error or sample.end is None
            )
        )

    def kept(self, snapshot: LagSnapshot) -> bool:
        """Whether it has held for long enough, including this refresh; a refresh with an error, or at which it is
        broken, starts again."""
        if snapshot.failed or snapshot.brokers or self.unread(snapshot) or self.broken(snapshot):
            self._since = None
            return False
        if self._since is None:
            self._since = snapshot.time
        return snapshot.time - self._since >= self.hold


def _late(group: GroupStanding, most: float) -> Breach | None:
    """Return why a group is not known to be at most that many seconds behind; None if it is."""
    name = group.described.group
    behind = [partition for partition in group.partitions if partition.lag.lag or partition.lag.unread]
    if group.time_lag is not None and group.time_lag > most:
        least = "at least " if group.time_lag_least else ""
        text = f"{name} is {least}{group.time_lag:.0f} s behind, over {most:g} s"
        worst = max(behind, key=lambda part: part.time_lag or 0.0)
    else:
        unknown = [part for part in behind if part.time_lag is None or part.time_lag_least]
        if not unknown:
            return None
        text, worst = f"{name}: the age of its first unread record is unknown", unknown[0]
    at = worst.lag.sample
    return Breach(group=name, topic=at.topic, partition=at.partition, limit=f"max-time {most:g}s", text=text)


def _trouble(sample: Sample) -> str:
    """Return what is wrong with a partition, with its name."""
    place, error = f"{sample.topic} [{sample.partition}]", sample.error or "its end is not known"
    return error if error.startswith(place) else f"{place}: {error}"
