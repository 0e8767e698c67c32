"""`groups reset --time-field ts --to-datetime T` and `rollback`: a group goes to where a time inside the values begins
(kpax's rollback). Everything else about it is `groups reset`: plan, clamping, undo, refusal for a live group."""

from __future__ import annotations

from asyncio import gather
from typing import TYPE_CHECKING

from kcli.asking.offsets import EARLIEST, LATEST, list_offsets
from kcli.changes.offset_forms import Wanted
from kcli.cli.commands.consume.payload_time import by_registry, field_of, firsts, jitter_of
from kcli.cli.output.timestamps import utc
from kcli.errors import KcliError
from kcli.model import OffsetAndMetadata

if TYPE_CHECKING:
    from kcli.admin.groups.reset_plan import PartitionOffsets
    from kcli.changes.offset_forms import Form, Prepare
    from kcli.cli.parsing.groups import ConnectionOptions, TimeFieldOptions
    from kcli.model import Cluster, TopicPartition
    from kcli.seeking.seeking import First


def prepare_of(options: TimeFieldOptions, moment: int, connection: ConnectionOptions) -> Prepare:
    """How to reset to the first record whose time in --time-field is `moment` (ms) or later; values are decoded where
    the connection names a registry. Raises UsageError."""
    field, jitter = field_of(options), jitter_of(options.jitter)

    async def prepare(cluster: Cluster, partitions: list[TopicPartition]) -> Form:
        starts, ends = await gather(
            list_offsets(cluster, dict.fromkeys(partitions, EARLIEST)),
            list_offsets(cluster, dict.fromkeys(partitions, LATEST)),
        )
        failed: dict[TopicPartition, KcliError] = {}
        ranges: dict[TopicPartition, tuple[int, int]] = {}
        for at in partitions:
            start, end = starts[at], ends[at]
            if isinstance(start, KcliError) or isinstance(end, KcliError):
                failed[at] = start if isinstance(start, KcliError) else end  # type: ignore[assignment]
            else:
                ranges[at] = start.offset, end.offset
        async with by_registry(field, connection):
            answers = await firsts(cluster, field, ranges, moment, jitter, quiet=connection.quiet)

        def form(at: TopicPartition, standing: PartitionOffsets) -> Wanted | KcliError:
            answer = failed.get(at) or answers[at]
            return answer if isinstance(answer, KcliError) else _wanted(answer, field.field)

        return form

    return prepare


def _wanted(first: First, field: str) -> Wanted:
    if not first.timed:
        return Wanted(keep=True, note=f"no record has a time in {field}")
    if first.time is None:
        return Wanted(commit=OffsetAndMetadata(offset=first.offset), note="no record is that recent: set to the end")
    when = utc(first.time)
    return Wanted(commit=OffsetAndMetadata(offset=first.offset), note=f"{field} is {when} there")
