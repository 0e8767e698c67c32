"""A member's subscription, and its topics that currently exist.

The group's leader assigns the topics of all members, including topics that it does not read itself, by the current
metadata. It requests Metadata directly, so that racks and partition counts come from one response and are not cached.
"""

from __future__ import annotations

import asyncio
from math import inf

from kcli import codes
from kcli.asking.ask import ask_broker
from kcli.backoff import Backoff, retry
from kcli.errors import BrokerError, KcliError, UsageError
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from kcli.model import Cluster
    from kcli.proto.messages.metadata import MetadataResponse

    Layout = dict[str, list[tuple[str, ...]]]


PATIENCE = 5.0  # seconds until missing topics are reported


async def name_missing(cluster: Cluster, topics: Sequence[str], say: Callable[[str], None]) -> None:
    """Report the topics of a subscription that do not exist after a while; the member keeps waiting for them."""
    interest = Interest(cluster, topics)
    await asyncio.sleep(PATIENCE)
    try:
        pauses = Backoff(PATIENCE, 60.0)
        found = await retry(lambda: interest.layout(topics, with_racks=False), pauses, inf)
    except KcliError as problem:
        say(str(problem))
        return
    missing = [topic for topic in topics if topic not in found]
    if missing:
        what, verb = ("topic", "does") if len(missing) == 1 else ("topics", "do")
        say(f"{what} {', '.join(missing)} {verb} not exist yet; this member waits for the {what}")


class Interest:
    """Topics by name, or all that fully match a regular expression (never internal ones)."""

    def __init__(self, cluster: Cluster, wanted: Sequence[str] | str) -> None:
        self._cluster = cluster
        self._fits: Callable[[str], object] | None = None
        self.topics: frozenset[str] = frozenset()
        if isinstance(wanted, str):
            import re

            from kcli.text.patterns import compiled, matcher

            try:
                self._fits = matcher(compiled(wanted), f"topics by pattern, {wanted}", whole=True)
            except re.error as broken:
                raise UsageError(f"{wanted!r} is not a valid topic pattern: {broken}") from broken
        else:
            self.topics = frozenset(wanted)

    @property
    def by_pattern(self) -> bool:
        return self._fits is not None

    def covers(self, topic: str) -> bool:
        """Whether the subscription includes a topic. Raises KcliError for a name on which the pattern takes a
        second."""
        return topic in self.topics if self._fits is None else bool(self._fits(topic))

    async def topics_now(self) -> frozenset[str]:
        """Return the topics that currently match the pattern, or else the listed names."""
        if self._fits is None:
            return self.topics
        answer = await self._metadata(None)
        return frozenset(
            topic.name
            for topic in answer.topics
            if topic.name and not topic.error_code and not topic.is_internal and self.covers(topic.name)
        )

    async def layout(self, topics: Iterable[str], *, with_racks: bool) -> Layout:
        """Return, for each existing topic, the racks of each partition's replicas, which are empty unless requested.
        Raises BrokerError for errors that only the user can fix (no permission, invalid name)."""
        asked = sorted(set(topics))
        if not asked:
            return {}
        answer = await self._metadata(asked)
        racks = {broker.node_id: broker.rack for broker in answer.brokers if broker.rack} if with_racks else {}
        layout: Layout = {}
        for topic in answer.topics:
            code = codes.of(topic.error_code)
            if code.name in ("TOPIC_AUTHORIZATION_FAILED", "INVALID_TOPIC_EXCEPTION") and topic.name in self.topics:
                raise BrokerError(code, topic.name or "", api=MetadataRequest.api_key, topic=topic.name or "")
            if code or topic.name is None or not topic.partitions:
                continue
            # Numbers begin at 0 without gaps: 2147483647 is not a partition, and must not lead to a huge list.
            count = len({partition.partition_index for partition in topic.partitions})
            places: list[tuple[str, ...]] = [()] * count
            for partition in topic.partitions:
                if 0 <= partition.partition_index < count:
                    near = {racks[node] for node in partition.replica_nodes if node in racks}
                    places[partition.partition_index] = tuple(sorted(near))
            layout[topic.name] = places
        return layout

    async def _metadata(self, topics: Collection[str] | None) -> MetadataResponse:
        broker = await self._cluster.anyone()
        named = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        return await ask_broker(broker, MetadataRequest(topics=named, allow_auto_topic_creation=False))
