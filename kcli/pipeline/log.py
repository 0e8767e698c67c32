"""Looks up partitions, log starts and ends, and offsets at a time, from the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Self

from kcli.asking.offsets import list_offsets
from kcli.client import Client
from kcli.errors import KcliError, UsageError
from kcli.model import TopicPartition
from kcli.pipeline.connection import Sealed
from kcli.pipeline.offset_options import EARLIEST, LATEST, Places
from kcli.pipeline.options import ReadOptions
from kcli.sync.client import SyncClient
from kcli.text.patterns import compiled, matcher

PATIENCE = 30.0
"""Seconds to retry offset look-ups, so that an election is waited for."""


class Log:
    """A client of the cluster for one driver-side process; use `with Log(sealed) as log:`, or `close` it at the end."""

    def __init__(self, sealed: Sealed) -> None:
        self.sealed = sealed
        self.isolation = sealed.consumer.isolation
        self.kafka = SyncClient(sealed.client).__enter__()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kafka.__exit__(kind, error, trace)

    def close(self) -> None:
        """Close the connections."""
        self.kafka.__exit__(None, None, None)

    def partitions(self, options: ReadOptions) -> list[TopicPartition]:
        """Return the partitions for subscribe, subscribePattern or assign, in order, with one request. Raises
        BrokerError for a missing topic, UsageError for a missing assigned partition; with failOnDataLoss=false a
        missing topic has no partitions, if another topic exists."""

        async def ask(client: Client) -> list[TopicPartition]:
            cluster = client.cluster
            if options.kind == "subscribePattern":
                every = await cluster.topics()
                fits = matcher(compiled(options.what), f"option subscribePattern {options.what}", whole=True)
                names = [name for name in every if fits(name) and not cluster.is_internal(name)]
                return [TopicPartition(name, number) for name in sorted(names) for number in every[name]]
            if options.kind == "assign":
                wanted = sorted({TopicPartition(topic, number) for topic, number in options.assigned})
                topics = sorted({at.topic for at in wanted})
                await cluster.refresh(topics)
                there = {topic: frozenset(await cluster.partitions(topic)) for topic in topics}
                missing = next((at for at in wanted if at.partition not in there[at.topic]), None)
                if missing is not None:
                    raise UsageError(f"option assign: {missing.topic} has no partition {missing.partition}")
                return wanted
            names = sorted({name.strip() for name in options.what.split(",") if name.strip()})
            await cluster.refresh(names)
            if not options.fail_on_data_loss and len(names) > 1:
                every = await cluster.topics()
                names = [name for name in names if name in every] or names
            return [TopicPartition(name, number) for name in names for number in sorted(await cluster.partitions(name))]

        return self.kafka.run(ask)

    def earliest(self, ats: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return where each log starts. Raises the first error of a partition."""
        return self._offsets(dict.fromkeys(ats, EARLIEST))

    def latest(self, ats: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return where each log ends; with read_committed its last stable offset. Raises like `earliest`."""
        return self._offsets(dict.fromkeys(ats, LATEST))

    def high_watermarks(self, ats: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return where each log ends, past open transactions. Raises like `earliest`."""
        return self._offsets(dict.fromkeys(ats, LATEST), "read_uncommitted")

    def at_times(self, times: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | None]:
        """Return the first offset at or after each time (ms), or None."""
        offsets = self._offsets(times)
        return {at: offset if offset >= 0 else None for at, offset in offsets.items()}

    def _offsets(self, wanted: Mapping[TopicPartition, int], isolation: str | None = None) -> dict[TopicPartition, int]:
        offsets: dict[TopicPartition, int] = {}
        if not wanted:
            return offsets
        answers = self.kafka.run(
            lambda client: list_offsets(
                client.cluster, wanted, isolation or self.isolation, patience=PATIENCE, wait_for_leaders=True
            )
        )
        for at, answer in answers.items():
            if isinstance(answer, KcliError):
                raise answer
            offsets[at] = answer.offset
        return offsets

    def resolve(self, places: Places, ats: list[TopicPartition], option: str) -> dict[TopicPartition, int]:
        """Return every position as an offset. JSON has to name exactly the existing partitions. Raises UsageError."""
        if places.kind == "earliest":
            return self.earliest(ats)
        if places.kind == "latest":
            return self.latest(ats)
        if places.kind in ("time", "times"):
            return self._at_time(places, ats, option)
        each = dict(places.each)
        exactly(each, ats, option)
        offsets = {at: offset for at, offset in each.items() if offset >= 0}
        offsets |= self.earliest(at for at, offset in each.items() if offset == EARLIEST)
        offsets |= self.latest(at for at, offset in each.items() if offset == LATEST)
        return offsets

    def _at_time(self, places: Places, ats: list[TopicPartition], option: str) -> dict[TopicPartition, int]:
        times = dict.fromkeys(ats, places.time) if places.kind == "time" else dict(places.each)
        exactly(times, ats, option)
        offsets = self.at_times(times)
        none = [at for at, offset in offsets.items() if offset is None]
        if none and places.strict:
            at = none[0]
            raise UsageError(
                f"{at.topic}[{at.partition}] has no record at or after {times[at]}; "
                "with startingOffsetsByTimestampStrategy=latest it is read from its end"
            )
        return {at: offset for at, offset in offsets.items() if offset is not None} | self.latest(none)


def exactly(given: Mapping[TopicPartition, int], ats: list[TopicPartition], option: str) -> None:
    """Raise UsageError unless the named partitions are exactly the existing ones."""
    there = set(ats)  # a list would be searched for each of them
    missing = [at for at in ats if at not in given]
    more = [at for at in given if at not in there]
    if missing or more:
        at = (missing or more)[0]
        what = "does not name" if missing else "names"
        where = "which is read" if missing else "which is not read"
        raise UsageError(
            f"option {option} {what} {at.topic}[{at.partition}], {where}: the option must name every partition "
            "exactly once"
        )
