"""The ways to specify an offset. Each creates a Form, a function from the state of a partition to its offset, or
prepares one if the cluster has to be asked first."""

from __future__ import annotations

import time

from kcli.asking.fan_out import good
from kcli.asking.offsets import LogOffset, list_offsets
from kcli.errors import OPTION, KcliError, UsageError
from kcli.grammar.offsets import parse_range, place_of
from kcli.lag.record_times import record_times
from kcli.model import OffsetAndMetadata
from kcli.seeking.last_records import found_at
from kcli.values import Frozen, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from kcli.admin.groups.reset_plan import PartitionOffsets
    from kcli.grammar.bound import Bound
    from kcli.model import Cluster, TopicPartition

    Form = Callable[[TopicPartition, PartitionOffsets], "Wanted | KcliError"]
    """Returns the wanted offset of a partition, or why it is unknown."""
    Prepare = Callable[[Cluster, list[TopicPartition]], Awaitable[Form]]
    """Asks the cluster about some partitions; returns where each of them is reset to."""

NOTHING = "no committed offset to shift"


class Wanted(Value):
    """The wanted commit; None deletes it. `note` is for the row. With `keep` nothing changes, with `exact` the log's
    bounds are ignored. A `plain` offset has no epoch and metadata: if it is already committed, they are kept."""

    commit: OffsetAndMetadata | None = None
    note: str = ""
    keep: bool = False
    exact: bool = False
    plain: bool = True


def earliest(at: TopicPartition, standing: PartitionOffsets) -> Wanted:
    """Return the log start offset."""
    return Wanted(commit=OffsetAndMetadata(offset=standing.start))


def latest(at: TopicPartition, standing: PartitionOffsets) -> Wanted:
    """Return the current log end offset."""
    return Wanted(commit=OffsetAndMetadata(offset=standing.end))


def current(at: TopicPartition, standing: PartitionOffsets) -> Wanted:
    """Return the committed offset, even if outside the log; the end if there is no commit (like Kafka's
    --to-current)."""
    if standing.old is not None:
        return Wanted(commit=standing.old, exact=True)
    return Wanted(commit=OffsetAndMetadata(offset=standing.end), note="nothing is committed: set to the end")


def offset(number: int) -> Form:
    """The same offset everywhere."""
    return lambda at, standing: Wanted(commit=OffsetAndMetadata(offset=number))


def each_at(offsets: Mapping[TopicPartition, int | KcliError]) -> Form:
    """Offsets that were looked up, one for each partition."""

    def form(at: TopicPartition, standing: PartitionOffsets) -> Wanted | KcliError:
        offset = offsets[at]
        return offset if isinstance(offset, KcliError) else Wanted(commit=OffsetAndMetadata(offset=offset))

    return form


def after_start(count: int) -> Form:
    """That many offsets after the start."""
    return lambda at, standing: Wanted(commit=OffsetAndMetadata(offset=standing.start + count))


def shifted(count: int) -> Form:
    """The committed offset plus N (N may be negative); a partition without a commit is unchanged."""

    def form(at: TopicPartition, standing: PartitionOffsets) -> Wanted:
        if standing.old is None:
            return Wanted(keep=True, note=NOTHING)
        return Wanted(commit=OffsetAndMetadata(offset=standing.old.offset + count))

    return form


def given(commits: Mapping[TopicPartition, OffsetAndMetadata | None], *, plain: bool) -> Form:
    """The offsets of a file or of another group; None deletes a commit. `plain`: without epochs and metadata."""

    def form(at: TopicPartition, standing: PartitionOffsets) -> Wanted | KcliError:
        if at not in commits:
            return KcliError(f"{at.topic} [{at.partition}]: the file has no offset of this partition")
        return Wanted(commit=commits[at], plain=plain)

    return form


async def at_time(cluster: Cluster, partitions: Iterable[TopicPartition], moment: int) -> Form:
    """The first offset whose record is not older than `moment` (ms since the epoch); the end if there is none."""
    offsets = await list_offsets(cluster, dict.fromkeys(partitions, moment))

    def form(at: TopicPartition, standing: PartitionOffsets) -> Wanted | KcliError:
        place = offsets[at]
        if not isinstance(place, LogOffset):
            return place
        if place.offset < 0:
            return Wanted(
                commit=OffsetAndMetadata(offset=standing.end), note="no record is that recent: set to the end"
            )
        return Wanted(commit=OffsetAndMetadata(offset=place.offset))

    return form


# -- positions of the offset grammar
# ------------------------------------------------------------------------------------


def place(text: str, now: int) -> tuple[Prepare, int | None]:
    """Return the form for a position in the offset grammar, and its time, if it has one. `now` is in ms since the
    epoch. Raises UsageError."""
    try:
        range = parse_range([place_of(text, now)], now)
    except UsageError as error:
        raise UsageError(f"to {error.args[0].removeprefix('offset ')}").hinted(OPTION) from None
    if range.starts:
        return _by_partition({number: form_at(bound) for number, bound in range.starts.items()}), None
    start = range.start
    if start is None or range.stop is not None:
        raise UsageError(f"to {text}: this is a range; give a single position").hinted(OPTION)
    return form_at(start), start.value if start.kind == "time" else None


def form_at(place: Bound) -> Prepare:
    """Return how to reset to a position of the log."""
    if place.kind == "time":
        return by_time(place.value)
    if place.kind == "relative":
        return lambda cluster, partitions: _last(cluster, partitions, place)
    forms: dict[str, Form] = {
        "earliest": earliest,
        "latest": latest,
        "stored": current,
        "offset": offset(place.value),
        "from_start": after_start(place.value),
    }
    return ready(forms[place.kind])


async def _last(cluster: Cluster, partitions: list[TopicPartition], place: Bound) -> Form:
    """The first of the last N records."""
    return each_at(await found_at(cluster, partitions, place))


def _by_partition(places: dict[int, Prepare]) -> Prepare:
    """`0=5,1=end`: a position for each partition; the others are unchanged."""

    async def prepare(cluster: Cluster, partitions: list[TopicPartition]) -> Form:
        missing = places.keys() - {at.partition for at in partitions}
        if missing:
            one = min(missing)
            raise UsageError(f"to {one}=…: partition {one} is not among the partitions to reset").hinted(OPTION)
        forms: dict[int, Form] = {}
        for number, place in places.items():
            forms[number] = await place(cluster, [at for at in partitions if at.partition == number])

        def form(at: TopicPartition, standing: PartitionOffsets) -> Wanted | KcliError:
            if at.partition not in forms:
                return Wanted(keep=True, note="no position is given for it")
            return forms[at.partition](at, standing)

        return form

    return prepare


class Rewind(Frozen):
    """Rewinds by `back` ms from what a group has read: from the time of the last record before its offset, in each
    partition. Unread records stay unread."""

    back: int = 0

    async def form(self, cluster: Cluster, commits: Mapping[TopicPartition, OffsetAndMetadata]) -> Form:
        read = {at: one.offset - 1 for at, one in commits.items() if one.offset > 0}
        times = await record_times(cluster, read)
        moments = {at: max(time - self.back, 0) for at, time in good(times).items()}
        places = await list_offsets(cluster, moments)

        def form(at: TopicPartition, standing: PartitionOffsets) -> Wanted | KcliError:
            if standing.old is None:
                return Wanted(keep=True, note=NOTHING)
            if standing.old.offset <= standing.start:
                return Wanted(keep=True, note="no record that it has read is left")
            found = places[at] if at in places else times[at]
            if not isinstance(found, LogOffset):
                return found if isinstance(found, KcliError) else KcliError(f"{at.topic} [{at.partition}]: no time")
            place = found.offset if found.offset >= 0 else standing.old.offset
            return Wanted(commit=OffsetAndMetadata(offset=min(place, standing.old.offset)))

        return form


def by_time(moment: int) -> Prepare:
    """The first record at or after a time in ms since the epoch."""
    return lambda cluster, partitions: at_time(cluster, partitions, moment)


def ready(form: Form) -> Prepare:
    """Wrap a form that does not need the cluster."""

    async def prepare(cluster: Cluster, partitions: list[TopicPartition]) -> Form:
        return form

    return prepare


def now_ms() -> int:
    """The current time, in ms since the epoch."""
    return int(time.time() * 1000)
