"""`--start`, `--end` and `--time-field`: a range of times, of the records' timestamps or of a field in their values.

With a field the range of offsets is searched for first, widened by `--jitter`, and what is read of it is filtered
exactly. Imported only when a command line names one of the options.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from time import time as now_in_seconds

from kcli.cli.parsing.groups import DECODED_FORMATS
from kcli.cli.runtime.connection import Connection
from kcli.errors import KcliError, UsageError
from kcli.grammar.bound import Bound
from kcli.grammar.durations import milliseconds
from kcli.grammar.offsets import TIMES, read_time
from kcli.seeking.last_records import newest
from kcli.seeking.seeking import Span, first_at, spans
from kcli.serde.filters.within import Within
from kcli.serde.payload_time import TimeField
from kcli.serde.undecoded import Undecoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping

    from kcli.cli.parsing.groups import ConnectionOptions, TimeFieldOptions
    from kcli.cli.parsing.record_groups import TimeOptions
    from kcli.grammar.offsets import Range
    from kcli.model import Cluster, TopicPartition
    from kcli.proto.columns import Columns
    from kcli.proto.spans import Spans
    from kcli.seeking.last_records import Newest
    from kcli.seeking.seeking import First, Span
    from kcli.serde.schemas.decoder import FieldDecoder
    from kcli.serde.schemas.labels import Labels
    from kcli.serde.schemas.typed_rows import TypedRows

JITTER = 60_000  # ms


def moment(text: str | None, flag: str, now: int) -> int | None:
    """A time in ms. Raises UsageError."""
    if text is None:
        return None
    time = read_time(text.removeprefix("@"), now)
    if time is None:
        raise UsageError(f"{flag} {text}: expected a time: {TIMES}")
    return time


def end_of_log(text: str | None) -> Bound | None:
    """`earliest` and `latest` as the start of a range (kpax's words); None for a time."""
    return Bound(text) if text in ("earliest", "latest") else None


def jitter_of(text: str | None) -> int:
    """`--jitter` in ms. Raises UsageError."""
    return JITTER if text is None else milliseconds(text, "--jitter")


def window(times: TimeOptions, field: TimeFieldOptions | None, range: Range) -> PayloadTime | None:
    """The range of payload times. Without --time-field it is None, and --start and --end become the start and stop of
    `range`, by the records' timestamps. Raises UsageError."""
    now = int(now_in_seconds() * 1000)
    begin = end_of_log(times.start)
    start, end = None if begin is not None else moment(times.start, "--start", now), moment(times.end, "--end", now)
    if start is not None and end is not None and start > end:
        raise UsageError(f"--end {times.end} is before --start {times.start}")
    if field is not None and field.time_field is not None:
        if begin is not None and begin.kind == "latest":
            raise UsageError("--start latest is not a time that --time-field can use")
        if start is None and end is None:
            raise UsageError("--time-field needs a time: add --start TIME or --end TIME")
        return PayloadTime(field_of(field), start, end, jitter_of(field.jitter))
    if field is not None and field.jitter is not None:
        raise UsageError("--jitter is for times in values; add --time-field NAME")
    for given, flag, bound in ((times.start, "--start", range.start), (times.end, "--end", range.stop)):
        if given is not None and bound is not None:
            raise UsageError(f"{flag} and -o both set where to {flag[2:].replace('end', 'stop')}; use only one")
    range.start = begin or (range.start if start is None else Bound("time", start))
    range.stop = range.stop if end is None else Bound("time", end)
    if range.backwards:
        raise UsageError("--start and -o: the stop is before the start")
    return None


def refuse_without_field(options: TimeFieldOptions) -> None:
    """Raises UsageError for options of payload times without --time-field."""
    for flag, given in (("--jitter", options.jitter), ("--value-format", options.value_format)):
        if given is not None and options.time_field is None:
            raise UsageError(f"{flag} is for times in values; add --time-field NAME")


def field_of(options: TimeFieldOptions) -> TimeField:
    """The field of --time-field, read as --value-format says. Raises UsageError."""
    if not options.time_field or not all(options.time_field.split(".")):
        raise UsageError("--time-field needs the name of a field, such as ts or event.ts")
    if options.value_format in DECODED_FORMATS:
        raise UsageError(f"--time-field works with values in json, msgpack and url, not in {options.value_format}")
    return TimeField(options.time_field, options.value_format or "auto")


class PayloadTime:
    """A range of payload times on a command line; `within` is the filter for it."""

    def __init__(self, field: TimeField, start: int | None, end: int | None, jitter: int) -> None:
        self.field, self.start, self.end, self.jitter = field, start, end, jitter
        self.within = Within(field, start, end)
        self._back = 0

    async def narrow(
        self, cluster: Cluster, ranges: dict[TopicPartition, tuple[int, int]], *, quiet: bool, verbose: bool
    ) -> dict[TopicPartition, tuple[int, int]]:
        """The part of each range of offsets in which all wanted records are. Raises KcliError where a partition could
        not be searched, or no record has a time."""
        from kcli.cli.output.progress import Progress

        await recognise(cluster, self.field, ranges, quiet=quiet)
        work = sum((high - low).bit_length() for low, high in ranges.values())
        progress = Progress("search", work, unit="steps", hidden=quiet)
        try:
            answers = await spans(
                cluster, self.field, ranges, self.start, self.end, self.jitter,
                lambda done, total: progress.at(work * done // max(total, 1)),
            )  # fmt: skip
        finally:
            progress.close()
        parts: dict[TopicPartition, Span] = {}
        for at, answer in answers.items():
            if isinstance(answer, KcliError):
                raise answer
            parts[at] = answer
        refuse_timeless(
            self.field, {at: part for at, part in parts.items() if ranges[at][0] < ranges[at][1]}, quiet=quiet
        )
        self._back = max((part.back for part in parts.values()), default=0)
        if verbose:
            self._told(
                sum(part.stop - part.start for part in parts.values()), sum(high - low for low, high in ranges.values())
            )
        return {at: (part.start, part.stop) for at, part in parts.items()}

    def _told(self, part: int, whole: int) -> None:
        from kcli.cli.output.messages import complain

        format = self.field.likely if self.field.format == "auto" else self.field.format
        complain(f"values are {format}; {part:,} of {whole:,} offsets are read for {self.field.field}")

    def said(self) -> list[str]:
        """The notes for the end of the run."""
        sentences = [sentence] if (sentence := self.within.said()) is not None else []
        worst = max(self._back, self.within.back[0] if self.within.back is not None else 0)
        if worst > self.jitter:
            sentences.append(too_much(self.field, worst, self.jitter))
        return sentences


# Searching for payload times, with the words for people: which fields there are, where no record has a time, and
# that times are more out of order than was allowed for.


NAMED = 12
"""How many fields of a value are named in a sentence."""


async def firsts(
    cluster: Cluster,
    field: TimeField,
    ranges: dict[TopicPartition, tuple[int, int]],
    time: int,
    jitter: int,
    *,
    quiet: bool,
) -> dict[TopicPartition, First | KcliError]:
    """The first record of each range whose time is `time` (ms) or later. Raises KcliError where no record has any."""
    from kcli.cli.output.messages import complain

    await recognise(cluster, field, ranges, quiet=quiet)
    answers = await first_at(cluster, field, ranges, time, jitter)
    good = {at: first for at, first in answers.items() if not isinstance(first, KcliError)}
    refuse_timeless(field, {at: first for at, first in good.items() if ranges[at][0] < ranges[at][1]}, quiet=True)
    worst = max((first.back for first in good.values()), default=0)
    if worst > jitter:
        complain(too_much(field, worst, jitter))
    return answers


async def recognise(
    cluster: Cluster, field: TimeField, ranges: dict[TopicPartition, tuple[int, int]], *, quiet: bool
) -> None:
    """Look at the newest records: they tell an unknown format, and whether there is such a field. Raises KcliError
    where they are of no known format."""
    latest = await newest(cluster, ranges, field.decode)
    if not latest:
        return
    if field.format == "auto":
        from kcli.serde.formats import detect

        likely = next((name for record in latest if (name := detect(record.value)) is not None), None)
        if likely is None and field.decode is not None:
            likely = "json"  # what schemas decode; the newest record may be the one that none does
        if likely is None:
            raise KcliError(
                f"the newest record, {_place(latest[0])}, is neither JSON, msgpack nor the query of a URL: it has no "
                f"field {field.field}"
            )
        field.hint(likely)
    if not quiet and all(field.time(record.value) is None for record in latest):
        from kcli.cli.output.messages import complain

        complain(_lacking(field, latest[0]))


def _lacking(field: TimeField, record: Newest) -> str:
    from kcli.text.suggest import did_you_mean

    start = f"the newest record, {_place(record)}, has no time in {field.field}"
    try:
        names = field.fields(record.value)
    except ValueError:
        return f"{start}: it is not {field.likely if field.format == 'auto' else field.format}"
    if not names or field.field in names:
        return start
    shown = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
    inner = [name for name in names if name.endswith(f".{field.field}")]
    near = f"; did you mean {inner[0]}?" if inner else did_you_mean(field.field, names)
    return f"{start}: its fields are {shown}{near}"


def _place(record: Newest) -> str:
    return f"{record.at.topic}[{record.at.partition}] offset {record.offset}"


def refuse_timeless(field: TimeField, parts: Mapping[TopicPartition, Span | First], *, quiet: bool) -> None:
    """Say which partitions have no record with a time. Raises KcliError where none has."""
    without = [at for at, part in parts.items() if not part.timed]
    if not without:
        return
    names = ", ".join(f"{at.topic}[{at.partition}]" for at in without[:NAMED]) + (", …" if without[NAMED:] else "")
    if len(without) == len(parts):
        raise KcliError(f"no record has a time in {field.field}: {names}")
    if not quiet:
        from kcli.cli.output.messages import complain

        complain(f"no record of {names} has a time in {field.field}")


def too_much(field: TimeField, back: int, jitter: int) -> str:
    """The sentence about times that go back further than the search allowed for."""
    return (
        f"times in {field.field} decrease by up to {length(back)}, which is more than --jitter {length(jitter)}: "
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


@asynccontextmanager
async def by_registry(field: TimeField, options: ConnectionOptions) -> AsyncIterator[None]:
    """Have a search read values by the schemas of the registry that a property names, and say at its end what could not
    be decoded. The search raises KcliError where the registry does not answer. Raises UsageError."""
    connection = Connection(options)
    registry = connection.registry()
    if registry is None:
        yield
        return
    from kcli.registry.lookup import open_schemas
    from kcli.serde.schemas.decoder import FieldDecoder, SchemaDecoder
    from kcli.serde.schemas.readers import reader_of

    schemas = open_schemas(registry)
    values = Searched(FieldDecoder("value", schemas, reader_of(), must_answer=True))
    field.decode = SchemaDecoder([values]).batch
    try:
        yield
    finally:
        await schemas.close()
    if values.undecoded.total and not connection.quiet:
        from kcli.cli.output.messages import complain
        from kcli.cli.runtime.schemas.decoding import undecoded_sentence

        complain(undecoded_sentence(values, "searched"))


class Searched:
    """Values that a search reads: parts of a batch come again, from an earlier offset or a later one, and what could
    not be decoded is counted once."""

    def __init__(self, field: FieldDecoder) -> None:
        self.kind = field.kind
        self.labels: Labels | None = None
        self.plain: Collection[int] = ()
        self.typed: TypedRows | None = None
        self._field = field
        self._most: dict[tuple[str, int, int], Undecoded] = {}

    @property
    def unknown(self) -> int:
        return self._field.unknown

    @property
    def undecoded(self) -> Undecoded:
        whole = Undecoded()
        for _, part in sorted(self._most.items()):
            whole.reasons += part.reasons
            whole.first = whole.first or part.first
        return whole

    async def decode(self, columns: Columns, topic: str, partition: int) -> Spans | None:
        self._field.undecoded = part = Undecoded()
        spans = await self._field.decode(columns, topic, partition)
        if part.total:  # a batch is read up to its end: the part that begins first has all of the others
            batch = topic, partition, columns.offsets[-1]
            self._most[batch] = max(part, self._most.get(batch, part), key=lambda each: each.total)
        return spans
