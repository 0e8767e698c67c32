"""`--start`, `--end` and `--time-field`: a range of times, of the records' timestamps or of a field in their values.

With a field the range of offsets is searched for first, widened by `--jitter`, and what is read of it is filtered
exactly. Imported only when a command line names one of the options.
"""

from __future__ import annotations

from time import time as now_in_seconds

from kcli.cli.offset_grammar import duration, read_time
from kcli.consumer.bounds import Bound
from kcli.errors import KcliError, UsageError
from kcli.seeking.probe import newest
from kcli.seeking.seeking import Span, spans
from kcli.serde.payload_time import TimeField
from kcli.serde.within import Within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.cli.offset_grammar import Range
    from kcli.cli.option import Values
    from kcli.model import Cluster, TopicPartition
    from kcli.seeking.probe import Newest
    from kcli.seeking.seeking import First

JITTER = 60_000  # ms
NAMED = 12
"""How many fields of a value are named in a sentence."""


def moment(text: str | None, flag: str, now: int) -> int | None:
    """A time in ms. Raises UsageError."""
    if text is None:
        return None
    found = read_time(text.removeprefix("@"), now)
    if found is None:
        raise UsageError(f"{flag} {text}: expected a time: ISO 8601, epoch seconds or milliseconds, -1h, now")
    return found


def jitter_of(text: str | None) -> int:
    """`--jitter` in ms. Raises UsageError."""
    if text is None:
        return JITTER
    length = 0 if text == "0" else duration(text)
    if length is None:
        raise UsageError(f"--jitter {text}: expected a length of time such as 30s or 5m")
    return length


def window(values: Values, range: Range) -> PayloadTime | None:
    """What the options mean. Without --time-field they are the start and stop of `range`, by the records' timestamps.
    Raises UsageError."""
    now = int(now_in_seconds() * 1000)
    start, end = moment(values["start"], "--start", now), moment(values["end"], "--end", now)
    if start is not None and end is not None and start > end:
        raise UsageError(f"--end {values['end']} is before --start {values['start']}")
    if values["time_field"] is not None:
        if start is None and end is None:
            raise UsageError("--time-field says where times are; say which with --start or --end")
        return PayloadTime(field_of(values), start, end, jitter_of(values["jitter"]))
    if values["jitter"] is not None:
        raise UsageError("--jitter is of payload times; name their field with --time-field")
    for found, flag, said in ((start, "--start", range.start), (end, "--end", range.stop)):
        if found is not None and said is not None:
            raise UsageError(f"{flag} and -o both say where to {flag[2:].replace('end', 'stop')}; take one")
    range.start = range.start if start is None else Bound("time", start)
    range.stop = range.stop if end is None else Bound("time", end)
    if range.backwards:
        raise UsageError("--start and -o: it stops before it starts")
    return None


def field_of(values: Values) -> TimeField:
    """The field of --time-field, read as --value-format says. Raises UsageError."""
    if not values["time_field"] or not all(values["time_field"].split(".")):
        raise UsageError("--time-field takes the name of a field, such as ts or event.ts")
    return TimeField(values["time_field"], values.get("value_format") or "auto")


class PayloadTime:
    """A range of payload times on a command line; `within` is the filter for it."""

    def __init__(self, field: TimeField, start: int | None, end: int | None, jitter: int) -> None:
        self.field, self.start, self.end, self.jitter = field, start, end, jitter
        self.within = Within(field, start, end)
        self._back = 0

    async def narrow(
        self, cluster: Cluster, ranges: dict[TopicPartition, tuple[int, int]], *, quiet: bool
    ) -> dict[TopicPartition, tuple[int, int]]:
        """The part of each range of offsets in which all wanted records are. Raises KcliError where a partition could
        not be searched, or no record has a time."""
        from kcli.cli.progress import Progress

        await recognise(cluster, self.field, ranges, quiet=quiet)
        work = sum((high - low).bit_length() for low, high in ranges.values())
        progress = Progress("search", work, hidden=quiet)
        try:
            found = await spans(
                cluster, self.field, ranges, self.start, self.end, self.jitter,
                lambda done, total: progress.at(work * done // max(total, 1)),
            )  # fmt: skip
        finally:
            progress.close()
        made: dict[TopicPartition, Span] = {}
        for at, answer in found.items():
            if isinstance(answer, KcliError):
                raise answer
            made[at] = answer
        refuse_timeless(self.field, {at: one for at, one in made.items() if ranges[at][0] < ranges[at][1]}, quiet=quiet)
        self._back = max((one.back for one in made.values()), default=0)
        return {at: (one.start, one.stop) for at, one in made.items()}

    def said(self) -> list[str]:
        """What is to be told at the end."""
        sentences = [sentence] if (sentence := self.within.said()) is not None else []
        worst = max(self._back, self.within.back[0] if self.within.back is not None else 0)
        if worst > self.jitter:
            sentences.append(too_much(self.field, worst, self.jitter))
        return sentences


async def recognise(
    cluster: Cluster, field: TimeField, ranges: dict[TopicPartition, tuple[int, int]], *, quiet: bool
) -> None:
    """Look at the newest records: they tell an unknown format, and whether there is such a field. Raises KcliError
    where they are of no known format."""
    latest = await newest(cluster, ranges)
    if not latest:
        return
    if field.format == "auto":
        from kcli.serde.formats import detect

        likely = next((name for one in latest if (name := detect(one.value)) is not None), None)
        if likely is None:
            raise KcliError(
                f"the newest record, {_place(latest[0])}, is neither JSON, msgpack nor the query of a URL: it has no "
                f"field {field.field}"
            )
        field.hint(likely)
    if not quiet and all(field.time(one.value) is None for one in latest):
        from kcli.cli.main import complain

        complain(_lacking(field, latest[0]))


def _lacking(field: TimeField, one: Newest) -> str:
    from kcli.nearest import did_you_mean

    start = f"the newest record, {_place(one)}, has no time in {field.field}"
    try:
        names = field.fields(one.value)
    except ValueError:
        return f"{start}: it is not {field.format}"
    if not names or field.field in names:
        return start
    shown = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
    inner = [name for name in names if name.endswith(f".{field.field}")]
    near = f"; did you mean {inner[0]}?" if inner else did_you_mean(field.field, names)
    return f"{start}: its fields are {shown}{near}"


def _place(one: Newest) -> str:
    return f"{one.at.topic}[{one.at.partition}] offset {one.offset}"


def refuse_timeless(field: TimeField, found: Mapping[TopicPartition, Span | First], *, quiet: bool) -> None:
    """Say which partitions have no record with a time. Raises KcliError where none has."""
    without = [at for at, one in found.items() if not one.timed]
    if not without:
        return
    names = ", ".join(f"{at.topic}[{at.partition}]" for at in without[:NAMED]) + (", …" if without[NAMED:] else "")
    if len(without) == len(found):
        raise KcliError(f"no record has a time in {field.field}: {names}")
    if not quiet:
        from kcli.cli.main import complain

        complain(f"no record of {names} has a time in {field.field}")


def too_much(field: TimeField, back: int, jitter: int) -> str:
    """The sentence about times that go back further than the search allowed for."""
    return (
        f"times in {field.field} go back by up to {length(back)}, which is more than --jitter {length(jitter)}: "
        f"records may be missing; try --jitter {length(-(-back // 1000) * 1000)} or more"
    )


def length(ms: int) -> str:
    """`1m30s`, as --jitter reads it."""
    text, rest = "", ms
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        if rest >= size:
            text += f"{rest // size}{unit}"
            rest %= size
    return text or "0"
