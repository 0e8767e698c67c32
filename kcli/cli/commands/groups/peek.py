"""`kcli groups peek`: the records around the committed offsets of groups."""

from __future__ import annotations

from kcli.cli.commands.consume.bounded import to_the_end
from kcli.cli.commands.consume.selection import finished
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.lag.measured import problems
from kcli.cli.output.tables.render import render
from kcli.cli.output.tables.rows import Row, column, moment, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedGroups, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, say, words_of
from kcli.cli.runtime.names import names_of
from kcli.consumer.consumer import Consumer
from kcli.grammar.bound import Bound
from kcli.lag.snapshot import take
from kcli.model import TopicPartition
from kcli.settings import ConsumerSettings
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.terminal import Terminal
    from kcli.cli.parsing.shared import ScopeTopics
    from kcli.lag.figures import Sample
    from kcli.model import Cluster
    from kcli.proto.batch import Batch

    Found = dict[TopicPartition, list["Around"]]

AROUND = 3  # records on each side
PLACES = ("deleted", "past", "open", "end")
"""Where a committed offset may be beside its log, the worst first."""
CELL = 60  # characters of a key or a value in a table
READ, NEXT, WAITING = "read", "next", "waiting"
FURTHER = (1, 16, 1024)
"""How far back N records are looked for, in multiples of N: markers and compaction leave gaps."""


class PeekRow(Row, section="records"):
    group: str = column("Name of the group.", rank=1)
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    offset: int = column("Offset of the record.", rank=1)
    place: str = column(
        "read, next (the record at the committed offset, which the group reads next) or waiting.", unit="word", rank=1
    )
    timestamp: int | None = moment("Timestamp (ms); null for none.")
    key: str | None = column("Key as text; bytes that are not UTF-8 as \\xNN.", rank=1)
    value: str | None = column("Value as text; bytes that are not UTF-8 as \\xNN.", rank=1)
    committed: int = column("Committed offset of the group.", table=False)


SHAPE = shape("groups.peek", "Records around the committed offsets of groups.", PeekRow)


class PeekOptions(NamedGroups, PatternOptions, ReadOptions):
    topics: ScopeTopics
    count = None  # -n is about records
    around: Annotated[
        int | None,
        typer.Option("-n", "-c", "--count", min=0, help="Show N records before and N after each offset (default 3)."),
    ] = None
    before: Annotated[int | None, typer.Option("--before", min=0, help="Show N records before it (default: -n).")] = (
        None
    )
    after: Annotated[int | None, typer.Option("--after", min=0, help="Show N records after it (default: -n).")] = None


@command(
    "groups peek",
    help="Show the records around committed offsets.",
    words="GROUP",
    examples="""
kcli groups peek billing
kcli groups peek billing -t orders:0 -n 10
kcli groups peek billing --before 0 --after 1 -J | jq -r '.records[].value'    # the next record of each partition""",
)
def peek(options: PeekOptions) -> int:
    """Show the records around the committed offsets of groups: `next` is the record that the group reads next.
    Nothing is committed and no group is joined.
    """
    names = names_of(options, words_of(options, "GROUP"))
    scope = Scope(options.topics, literal=options.literal)
    around = AROUND if options.around is None else options.around
    before = around if options.before is None else options.before
    after = around if options.after is None else options.after

    async def work(cluster: Cluster, document: Document) -> None:
        snapshot = await take(cluster, names, stable=True)
        await problems(cluster, snapshot, document)
        for group in snapshot.groups:
            name = group.described.group
            committed = [sample for sample in group.samples if sample.committed is not None and scope.has(_at(sample))]
            if not committed:
                say(options, f"{name}: the group has committed nothing{' there' * scope.named}")
                continue
            readable = [sample for sample in committed if _readable(sample)]
            _say_beside(options, name, readable)
            spans = {_at(sample): _span(sample) for sample in readable}
            records = await read_around(cluster, spans, before, after)
            document.of(PeekRow).extend(
                _row(name, at, spans[at], record) for at in sorted(records) for record in records[at]
            )

    return answer(options, SHAPE, work, _shown)


def _at(sample: Sample) -> TopicPartition:
    return TopicPartition(sample.topic, sample.partition)


def _readable(sample: Sample) -> bool:
    return sample.error is None and sample.start is not None and sample.end is not None


def _span(sample: Sample) -> Span:
    """What may be read of a log: up to the first open transaction, as members that read committed records see it."""
    assert sample.committed is not None
    assert sample.start is not None
    assert sample.end is not None
    end = sample.end if sample.stable is None else min(sample.stable, sample.end)
    return Span(start=sample.start, committed=sample.committed, end=end)


def _say_beside(options: PeekOptions, group: str, samples: list[Sample]) -> None:
    """Say in one line which committed offsets are beside their logs, or at the end."""
    places: dict[str, list[Sample]] = {}
    for sample in samples:
        places.setdefault(_place(sample), []).append(sample)
    notes = [_note(place, places[place], len(samples)) for place in PLACES if place in places]
    if notes:
        say(options, f"{group}: {'; '.join(notes)}")


def _note(place: str, samples: list[Sample], of: int) -> str:
    """The sentence about the partitions at one place, exact if it is only one."""
    span, count = _span(samples[0]), len(samples)
    at = f"{samples[0].topic} [{samples[0].partition}]"
    lost = sum(_span(sample).start - _span(sample).committed for sample in samples)
    single, many = {
        "deleted": (
            f"{lost} offsets from {span.committed} on were deleted before they were read"
            if lost != 1
            else f"offset {span.committed} was deleted before it was read",
            f"{lost} offsets of {count} partitions were deleted before they were read",
        ),
        "past": (
            f"{span.committed} is committed, but the log ends at {span.end}",
            f"in {count} of {of} partitions the commit is past the end",
        ),
        "open": (
            f"no record to read at {span.end}: a transaction is open there",
            f"in {count} of {of} partitions an open transaction is next",
        ),
        "end": (
            f"no record to read at {span.end}: this is the end of the log",
            f"in {count} of {of} partitions there is no record to read: this is the end of the log",
        ),
    }[place]
    return f"{at}: {single}" if count == 1 else many


def _place(sample: Sample) -> str:
    """Where a committed offset is: one of PLACES, or "" inside of its log."""
    span = _span(sample)
    if span.committed < span.start:
        return "deleted"
    if span.committed > span.end:
        return "past"
    if span.committed == span.end:
        return "open" if span.end != sample.end else "end"
    return ""


def _row(group: str, at: TopicPartition, span: Span, record: Around) -> PeekRow:
    return PeekRow(
        group=group,
        topic=at.topic,
        partition=at.partition,
        offset=record.offset,
        place=record.place,
        timestamp=record.timestamp if record.timestamp >= 0 else None,
        key=_text(record.key),
        value=_text(record.value),
        committed=span.committed,
    )


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "backslashreplace")


def _shown(document: Document, format: str, terminal: Terminal | None) -> str:
    """A table has the beginning of long keys and values; every other format all of them."""
    if format == "table":
        for row in document.of(PeekRow):
            row.key, row.value = _short(row.key), _short(row.value)
    return render(document, format, terminal)


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= CELL else text[: CELL - 1] + "…"


class Span(Frozen):
    """Where a log starts and ends, and what a group has committed."""

    start: int = 0
    committed: int = 0
    end: int = 0


class Around(Frozen):
    """A record, and its place by the committed offset."""

    offset: int = 0
    place: str = READ
    timestamp: int = -1
    key: bytes | None = None
    value: bytes | None = None


async def read_around(cluster: Cluster, spans: dict[TopicPartition, Span], before: int, after: int) -> Found:
    """Of each partition the last `before` records before the committed offset, the record there, and `after` behind
    it. Raises KcliError for a partition that cannot be read."""
    records = await _read(cluster, {at: (span.committed, span.end) for at, span in spans.items()}, after + 1)
    rows: Found = {
        at: [_placed(record, NEXT if number == 0 else WAITING) for number, record in enumerate(some[: after + 1])]
        for at, some in records.items()
    }
    earlier = await _earlier(cluster, spans, before) if before else {}
    return {at: [*(_placed(record, READ) for record in earlier.get(at, ())), *rows.get(at, ())] for at in sorted(spans)}


async def _earlier(cluster: Cluster, spans: dict[TopicPartition, Span], before: int) -> Found:
    """The last records before each committed offset."""
    rows: Found = {}
    open_spans = dict(spans)
    for further in FURTHER:
        ranges = {
            at: (max(span.start, min(span.committed, span.end) - before * further), min(span.committed, span.end))
            for at, span in open_spans.items()
        }
        records = await _read(cluster, ranges, None)
        rows |= {at: some[-before:] for at, some in records.items()}
        open_spans = {
            at: span for at, span in open_spans.items() if len(rows.get(at, ())) < before and ranges[at][0] > span.start
        }
        if not open_spans:
            break
    return rows


async def _read(cluster: Cluster, ranges: dict[TopicPartition, tuple[int, int]], most: int | None) -> Found:
    """The first records of [start, end) of each partition: `most`, or all."""
    rows: Found = {}
    wanted = {at: (start, end) for at, (start, end) in ranges.items() if start < end}
    async with Consumer(cluster, ConsumerSettings(isolation="read_committed")) as consumer:
        consumer.assign({at: Bound("offset", start) for at, (start, _) in wanted.items()})
        consumer.stop_at({at: end for at, (_, end) in wanted.items()})
        left = set(wanted)
        if not left:
            return rows
        async for fetched in to_the_end(consumer):
            at = TopicPartition(fetched.topic, fetched.partition)
            some = rows.setdefault(at, [])
            for batch in fetched.batches:
                some += _records(batch)
            if fetched.error is not None:
                raise finished(fetched.error, at, fetched.next_offset, "read")
            if at in left and (fetched.next_offset >= wanted[at][1] or (most is not None and len(some) >= most)):
                left.discard(at)
                consumer.pause(at)
                if not left:
                    break
    return rows


def _records(batch: Batch) -> list[Around]:
    columns = batch.columns()
    return [
        Around(offset=offset, timestamp=columns.timestamps[n], key=columns.key(n), value=columns.value(n))
        for n, offset in enumerate(columns.offsets)
    ]


def _placed(record: Around, place: str) -> Around:
    return Around(offset=record.offset, place=place, timestamp=record.timestamp, key=record.key, value=record.value)
