"""The arguments of `client.consumer("orders", …)`: which topics, from where, to where."""

from __future__ import annotations

from kcli.errors import KcliError, UsageError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.consumer.consumer import Consumer
    from kcli.model import Cluster

WORDS = ("earliest", "latest")
MOVING = ("latest", "relative", "time")
"""Starts that depend on the time of the look-up."""


class Selection(Frozen):
    """Topics that a consumer reads from the beginning of its block: a member of `group` subscribes to them, any other
    consumer is assigned all their partitions, from `start`."""

    topics: tuple[str, ...] = ()
    group: bool = False
    start: Bound = Bound("earliest")
    stop_at_end: bool = False
    isolation: str = "read_uncommitted"

    async def begin(self, consumer: Consumer, cluster: Cluster) -> None:
        """Subscribe, or assign. A start that depends on the time is looked up before this returns. Raises KcliError."""
        if self.group:
            await consumer.subscribe(self.topics)
            return
        at = [TopicPartition(topic, number) for topic in self.topics for number in await cluster.partitions(topic)]
        if self.stop_at_end:
            from kcli.asking.offsets import LATEST, list_offsets

            ends = await list_offsets(cluster, dict.fromkeys(at, LATEST), self.isolation, wait_for_leaders=True)
            stops = {}
            for one, end in ends.items():
                if isinstance(end, KcliError):
                    raise end
                stops[one] = end.offset
            consumer.stop_at(stops)
        consumer.assign(dict.fromkeys(at, self.start))
        if self.start.kind in MOVING:
            await consumer.positioned()


def start_of(given: Bound | str | None, reset: str, *, group: bool) -> Bound:
    """Return where reading starts: the `start` argument, else the settings' `reset`. Raises UsageError."""
    if isinstance(given, str):
        if given not in WORDS:
            raise UsageError(f"start {given!r}: expected {' or '.join(WORDS)}, or a Bound")
        return Bound(given)
    if given is not None and group:
        raise UsageError(f"start {given}: a group member starts at committed offsets; expected earliest or latest")
    if given is None and not group and reset not in WORDS:
        raise UsageError(f"reset={reset!r} requires a start: give start=, or read in a group")
    return given or Bound(reset)
