"""The ways to say which offset is wanted: each makes a Form (reset.py). Only a time has to ask the cluster first."""

from __future__ import annotations

from kcli.admin.groups.reset import Wanted
from kcli.asking.offsets import LogOffset, list_offsets
from kcli.errors import KcliError
from kcli.model import OffsetAndMetadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kcli.admin.groups.reset import Form, Standing
    from kcli.model import Cluster, TopicPartition

NOTHING = "nothing is committed to shift from"


def earliest(at: TopicPartition, standing: Standing) -> Wanted:
    """The log start offset."""
    return Wanted(commit=OffsetAndMetadata(offset=standing.start))


def latest(at: TopicPartition, standing: Standing) -> Wanted:
    """Where the log ends now."""
    return Wanted(commit=OffsetAndMetadata(offset=standing.end))


def current(at: TopicPartition, standing: Standing) -> Wanted:
    """The committed offset, also outside of the log; the end if there is no commit (as Kafka's --to-current)."""
    if standing.old is not None:
        return Wanted(commit=standing.old, exact=True)
    return Wanted(commit=OffsetAndMetadata(offset=standing.end), note="nothing is committed: the end")


def nothing(at: TopicPartition, standing: Standing) -> Wanted:
    """No commit."""
    return Wanted()


def offset(number: int) -> Form:
    """The same offset everywhere."""
    return lambda at, standing: Wanted(commit=OffsetAndMetadata(offset=number))


def each_at(offsets: Mapping[TopicPartition, int | KcliError]) -> Form:
    """Offsets that were looked up, one for each partition."""

    def form(at: TopicPartition, standing: Standing) -> Wanted | KcliError:
        offset = offsets[at]
        return offset if isinstance(offset, KcliError) else Wanted(commit=OffsetAndMetadata(offset=offset))

    return form


def after_start(count: int) -> Form:
    """That many offsets after the start."""
    return lambda at, standing: Wanted(commit=OffsetAndMetadata(offset=standing.start + count))


def shifted(count: int) -> Form:
    """The committed offset plus N (negative: minus); a partition without a commit is unchanged."""

    def form(at: TopicPartition, standing: Standing) -> Wanted:
        if standing.old is None:
            return Wanted(keep=True, note=NOTHING)
        return Wanted(commit=OffsetAndMetadata(offset=standing.old.offset + count))

    return form


def given(commits: Mapping[TopicPartition, OffsetAndMetadata | None], *, plain: bool) -> Form:
    """The offsets of a file or of another group; None deletes a commit. `plain`: without epochs and metadata."""

    def form(at: TopicPartition, standing: Standing) -> Wanted:
        return Wanted(commit=commits[at], plain=plain)

    return form


async def at_time(cluster: Cluster, partitions: Iterable[TopicPartition], moment: int) -> Form:
    """The first offset whose record is not older than `moment` (ms since the epoch); the end where none is."""
    offsets = await list_offsets(cluster, dict.fromkeys(partitions, moment))

    def form(at: TopicPartition, standing: Standing) -> Wanted | KcliError:
        place = offsets[at]
        if not isinstance(place, LogOffset):
            return place
        if place.offset < 0:
            return Wanted(commit=OffsetAndMetadata(offset=standing.end), note="no record is that recent: the end")
        return Wanted(commit=OffsetAndMetadata(offset=place.offset))

    return form
