"""Searching for payload times, with the words for people: which fields there are, where no record has a time, and
that times are more out of order than was allowed for."""

from __future__ import annotations

from contextlib import asynccontextmanager

from kcli.cli.runtime.connection import Connection
from kcli.errors import KcliError
from kcli.seeking.last_records import newest
from kcli.seeking.seeking import first_at
from kcli.serde.undecoded import Undecoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping

    from kcli.cli.parsing.groups import ConnectionOptions
    from kcli.model import Cluster, TopicPartition
    from kcli.proto.columns import Columns
    from kcli.proto.spans import Spans
    from kcli.seeking.last_records import Newest
    from kcli.seeking.seeking import First, Span
    from kcli.serde.payload_time import TimeField
    from kcli.serde.schemas.decoder import FieldDecoder
    from kcli.serde.schemas.labels import Labels
    from kcli.serde.schemas.typed_rows import TypedRows

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
