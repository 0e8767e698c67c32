"""What consume, tail and count share: which partitions, from where to where."""

from __future__ import annotations

from asyncio import gather

from kcli import codes
from kcli.cli.commands.consume.leaderless import LeftOut
from kcli.cli.output import text
from kcli.cli.parsing.groups import DECODED_FORMATS
from kcli.cli.parsing.record_groups import PRINTED, OrderedOptions, PrintOptions
from kcli.cli.runtime.connection import Connection
from kcli.errors import BrokerError, DecodeError, KcliError, UsageError
from kcli.grammar.bound import Bound
from kcli.grammar.offsets import parse_range
from kcli.model import TopicPartition
from kcli.text.names import is_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractAsyncContextManager

    from kcli.cli.commands.consume.payload_time import PayloadTime
    from kcli.cli.parsing.groups import TimeFieldOptions
    from kcli.cli.parsing.record_groups import (
        FilterOptions,
        SchemaOptions,
        SelectionOptions,
        TimeOptions,
        TopicOptions,
    )
    from kcli.cli.runtime.schemas.decoding import Decoding
    from kcli.cli.runtime.topic_pattern import TopicPattern
    from kcli.client import Client
    from kcli.consumer.consumer import Consumer
    from kcli.model import Cluster
    from kcli.proto.batch import Batch
    from kcli.serde.filters.filter import Filter
    from kcli.settings import GroupSettings


SENTENCES = 10
"""How many corrupt batches are named one by one."""

BY_PATTERN = ("consume", "tail", "count", "pipeline export")
"""The commands that read all topics that a pattern matches, also those that appear later."""

EARLIEST, LATEST = Bound("earliest"), Bound("latest")


class Selection:
    """The topics, partitions and range of a command line; `times`, `field` and `filters` are its options of these
    kinds, where it has them. Raises UsageError."""

    skipped = 0
    """Corrupt batches that were left out."""

    def __init__(
        self,
        options: SelectionOptions,
        command: str,
        topics: list[str],
        *,
        times: TimeOptions | None = None,
        field: TimeFieldOptions | None = None,
        filters: FilterOptions | None = None,
        schemas: SchemaOptions | None = None,
        literal: bool = False,
    ) -> None:
        from time import time

        self.connection = Connection(options)
        self.left_out = LeftOut()
        given = list(dict.fromkeys(topics))
        if not given:
            raise UsageError(f"missing topic: kcli {command} TOPIC")
        patterns = [] if literal else [name for name in given if is_pattern(name)]
        self.topics: list[str] = [name for name in given if name not in patterns]
        self.pattern: TopicPattern | None = self._pattern(patterns, command) if patterns else None
        self.partitions = text.partitions(options.partitions)
        self.range = parse_range(options.offset, int(time() * 1000))
        self._choose_by_starts()
        self.settings = self.connection.consumer()
        if options.isolation is not None:
            self.settings = self.settings.replace(isolation=options.isolation)
        if filters is not None and filters.skip_corrupt:
            self.settings = self.settings.replace(skip_corrupt=True)
        self.payload: PayloadTime | None = None
        if times is not None and has_times(times, field):
            from kcli.cli.commands.consume.payload_time import window

            self.payload = window(times, field, self.range)
        self.ordered = self._in_order(options)
        self.decoding: Decoding | None = None
        self._formats: dict[str, str] = {}
        if schemas is not None and not schemas.raw_value:
            self._decode(schemas, filters, json=isinstance(options, PrintOptions) and options.json)
        self.keep = self._filter(filters, by_field=field is not None)

    def _in_order(self, options: SelectionOptions) -> bool:
        """Whether the first timestamp past the range ends it. Raises UsageError."""
        ordered = isinstance(options, OrderedOptions) and options.ordered
        if ordered and not self.range.until_time:
            raise UsageError("--ordered needs an end time; add --end TIME, or -o @TIME:@TIME")
        return ordered or self.range.places

    def _filter(self, filters: FilterOptions | None, *, by_field: bool) -> Filter | None:
        """The filter of records; None where all are wanted."""
        if filters is None or (self.payload is None and not _filters(filters)):
            return None
        from kcli.cli.commands.consume.filtering import filter_of

        within = None if self.payload is None else self.payload.within
        decoded = self._formats.get("value") is not None
        keep = filter_of(filters, by_field, within, decoded=decoded, decoded_keys=self.decoding is not None)
        if self.decoding is not None:
            self.decoding.filtered = keep.sees
        return keep

    def _decode(self, schemas: SchemaOptions, filters: FilterOptions | None, *, json: bool) -> None:
        """Decode what is read where a schema is named, a format, or a registry: by --schema-registry, or by a
        property."""
        named = {"key": schemas.key_format, "value": None if filters is None else filters.value_format}
        known = (*DECODED_FORMATS, "msgpack", "url") if json else DECODED_FORMATS
        self._formats = {kind: name for kind, name in named.items() if name in known}
        registry = self.connection.registry(schemas.schema_registry)
        if registry is not None and schemas.no_schema_cache:
            registry = registry.replace(disk=False)
        if registry is not None or schemas.value_schema or schemas.key_schema or self._formats:
            from kcli.cli.runtime.schemas.decoding import Decoding

            self.decoding = Decoding(schemas, registry, self._formats)

    def _choose_by_starts(self) -> None:
        """Partitions that have a start of their own are those that are read, unless the line says more."""
        starts = self.range.starts
        if starts and self.range.start is None and self.partitions is None:
            self.partitions = sorted(starts)
        unread = sorted(starts.keys() - set(starts if self.partitions is None else self.partitions))
        if unread:
            raise UsageError(f"-o {unread[0]}=…: -p does not select partition {unread[0]}")

    def _pattern(self, patterns: list[str], command: str) -> TopicPattern:
        if command not in BY_PATTERN:
            raise UsageError(f"{patterns[0]}: {command} needs names of topics, not a pattern")
        from kcli.cli.runtime.topic_pattern import TopicPattern

        return TopicPattern(patterns, self.topics)

    def consumer(self, client: Client, group: GroupSettings | None = None) -> Consumer:
        """A consumer that says resets and truncations on stderr (E20), unless -q."""
        from kcli.cli.output.messages import complain

        consumer = client.consumer(settings=self.settings, group=group)
        if self.decoding is not None:
            self.decoding.attach(consumer, client)
        if not self.connection.quiet:
            consumer.on_notice = complain
        return consumer

    def read(
        self,
        consumer: Consumer,
        span: dict[TopicPartition, tuple[int, int]],
        *,
        on: bool = False,
        awaited_from: Bound | None = None,
    ) -> None:
        """Have a consumer read [start, stop) of each partition, or on from start; of that the records in the range of
        timestamps. A read that continues also waits for the partitions that were left out, and reads them from
        `awaited_from`, by default from the start of the range."""
        self.select_times(consumer, span)
        starts = {at: Bound("offset", start) for at, (start, _) in span.items()}
        for at in self.left_out.errors if on else ():
            starts.setdefault(at, awaited_from or self.range.start_of(at.partition) or EARLIEST)
        consumer.assign(starts)
        if not on:
            consumer.stop_at({at: stop for at, (_, stop) in span.items()})

    def select_times(self, consumer: Consumer, places: Iterable[TopicPartition]) -> None:
        """Have a consumer hand out only the records in the range of timestamps, if the line has one."""
        times = {at: window for at in places if (window := self.range.times_of(at.partition)) is not None}
        consumer.select_times(times)

    def print_decoded(self, options: PrintOptions) -> None:
        """Have the decoder say by which schema it decodes where that is printed. Byte-exact lines hold what is stored:
        nothing is decoded for them alone."""
        if self.decoding is not None and (options.json or "{schema" in (options.template or "")):
            self.decoding.label()
        elif options.envelope and self.keep is None and self.decoding is not None and not self.decoding.strict:
            self.decoding = None

    @property
    def exit_code(self) -> int:
        """That of a registry that did not answer what a filter had to know, or that refused the credentials; 1 where
        partitions were left out, or where --fail-on-undecoded is given and something could not be decoded."""
        if self.decoding is None:
            return self.left_out.exit_code
        unknown = self.decoding.unanswered or self.decoding.denied
        return unknown or self.left_out.exit_code or int(self.decoding.failed)

    def client(self) -> Client:
        """The cluster that the line names, and its registry. Raises UsageError."""
        from kcli.client import Client

        registry = None if self.decoding is None else self.decoding.registry
        client = Client(self.connection.client(), registry=registry)
        if self.payload is not None and self.decoding is not None:
            self.payload.field.decode = self.decoding.of_values(client)
        return client

    @property
    def patience(self) -> float:
        """Seconds for looking something up: default.api.timeout.ms."""
        return self.connection.client().deadline

    def kept(self, batch: Batch, at: TopicPartition) -> Batch | None:
        """A batch of the records that the filters keep; None where there are none. Raises DecodeError."""
        return batch if self.keep is None else self.keep.batch(batch, at.topic, at.partition)

    def passed(self, at: TopicPartition, before: int) -> None:
        """Records in front of an offset were printed, or filtered out: what could not be decoded of them counts."""
        if self.decoding is not None and self.decoding.waits:
            self.decoding.passed(at, before)

    def leave_out(self, what: KcliError, at: TopicPartition) -> None:
        """Report a skipped corrupt batch, and count it. Raises KcliError where --skip-corrupt was not given."""
        from kcli.cli.output.messages import complain

        place = f"{at.topic}[{at.partition}]"
        sentence = str(what) if str(what).startswith(place) else f"{place}: {what}"
        if not self.settings.skip_corrupt:
            raise KcliError(f"{sentence}; --skip-corrupt continues") from None
        self.skipped += 1
        if self.skipped <= SENTENCES:
            complain(f"{sentence}; skipped")

    def say_skipped(self) -> None:
        """Report the number of skipped corrupt batches at the end, and of records without a time in a time range."""
        from kcli.cli.output.messages import complain

        if self.payload is not None and not self.connection.quiet:
            for sentence in self.payload.said():
                complain(sentence)
        if self.keep is not None and not self.connection.quiet:
            for sentence in self.keep.said():
                complain(sentence)
        if self.decoding is not None and not self.connection.quiet:
            for sentence in self.decoding.said(unknown=self.connection.verbose):
                complain(sentence)
        if self.skipped:
            complain(f"skipped {self.skipped} corrupt batch{'' if self.skipped == 1 else 'es'}")

    @property
    def several(self) -> bool:
        """Whether records of more than one topic may come."""
        return self.pattern is not None or len(self.topics) > 1

    async def names(self, cluster: Cluster) -> list[str]:
        """The topics there are now: those named, then those that match a pattern."""
        if self.pattern is None:
            return self.topics
        self.pattern.check()
        return list(dict.fromkeys([*self.topics, *await self.pattern.topics(cluster)]))

    async def places(self, cluster: Cluster) -> list[TopicPartition]:
        """The partitions there are. Raises KcliError for an unknown topic, UsageError for an unknown partition; a
        topic that was found by a pattern need not have those of -p."""
        places = []
        for topic in await self.names(cluster):
            there = sorted(await partitions(cluster, topic))
            missing = sorted(set(self.partitions or ()) - set(there))
            if missing and topic in self.topics:
                flag = "-o" if missing[0] in self.range.starts else "-p"
                raise UsageError(f"{flag}: {topic} has no partition {missing[0]}: its partitions are 0-{there[-1]}")
            places += [TopicPartition(topic, n) for n in there if self.partitions is None or n in self.partitions]
        return places

    async def some_places(self, cluster: Cluster) -> list[TopicPartition]:
        """The same for a read that ends: it must find something to read."""
        places = await self.places(cluster)
        if not places and self.pattern is not None:
            raise self.pattern.no_match()
        return places

    async def offsets(self, cluster: Cluster, bounds: dict[TopicPartition, Bound]) -> dict[TopicPartition, int]:
        """Bounds as offsets, all asked at once; -N is the Nth record before the end. Partitions whose leader does not
        answer are left out. Raises KcliError if any other partition has no answer."""
        from kcli.consumer.offsets import resolve

        counts = {at: bound.value for at, bound in bounds.items() if bound.kind == "relative"}
        others = {at: bound for at, bound in bounds.items() if at not in counts}
        answers = await resolve(
            cluster, others, isolation=self.settings.isolation, deadline=self.patience, wait_for_leaders=False
        )
        offsets = {at: answer if isinstance(answer, KcliError) else answer.offset for at, answer in answers.items()}
        if counts:
            from kcli.seeking.last_records import last_records

            offsets |= await last_records(cluster, counts, self.settings, patience=self.patience)
        return self.left_out.good(offsets)

    def waiting(self, client: Client, consumer: Consumer) -> AbstractAsyncContextManager[None]:
        """While entered, say on stderr where the consumer waits for an open transaction, unless -q."""
        if self.settings.isolation != "read_committed" or self.connection.quiet:
            from contextlib import nullcontext

            return nullcontext()
        from kcli.cli.runtime.undecided import Waiting

        return Waiting(client.cluster, consumer)

    async def log_ends(self, cluster: Cluster, places: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Where the logs end, where that may be later than where we may read. Partitions whose leader does not answer
        are left out. Raises KcliError."""
        if self.settings.isolation != "read_committed":
            return {}
        from kcli.consumer.offsets import resolve

        answers = await resolve(cluster, dict.fromkeys(places, LATEST), deadline=self.patience, wait_for_leaders=False)
        return self.left_out.good(
            {at: answer if isinstance(answer, KcliError) else answer.offset for at, answer in answers.items()}
        )

    async def say_held_back(
        self, cluster: Cluster, logs: dict[TopicPartition, int], ends: dict[TopicPartition, int]
    ) -> None:
        """Say on stderr where a read of committed records ends before the log does, unless -q. The ends of the logs
        were asked for first: an end that was found later and is smaller is held back, not just older."""
        held = {at: (ends[at], end) for at, end in logs.items() if ends.get(at, end) < end}
        if held and not self.connection.quiet:
            from kcli.cli.runtime.undecided import say_ends

            await say_ends(cluster, held)

    async def span(
        self, cluster: Cluster, places: list[TopicPartition], *, ends: bool = True, whole: bool = False
    ) -> dict[TopicPartition, tuple[int, int]]:
        """[start, stop) of each partition, fixed now and inside the log as it is now (E18, R2); of that the part in
        which the range of payload times is. A partition whose start -o names by itself begins there. Records with a
        timestamp before the stop may be anywhere up to the end of the log, unless timestamps are in order. With `ends`,
        say on stderr (unless -q) where an open transaction ends the read before the log does; a read that follows does
        not end there. Partitions without a leader are left out and reported (`left_out`), unless the topics are wanted
        `whole`. Raises KcliError."""
        self.left_out.awaited = not ends
        asked, led = places, await self.left_out.check(cluster, places, self.patience)
        start, stop = self.range.start or EARLIEST, self.range.stop or LATEST
        if stop.kind == "time" and not self.ordered:
            stop = LATEST
        starts = {at: self.range.starts.get(at.partition, start) for at in led}
        typed = any(bound.kind == "offset" for bound in (stop, *starts.values()))
        reports = ends and stop == LATEST and not self.connection.quiet
        logs = await self.log_ends(cluster, led) if reports or typed else {}
        places = [at for at in led if at not in self.left_out.errors]
        wanted: dict[Bound, list[TopicPartition]] = {stop: places}
        for at in places:
            if starts[at] != stop:
                wanted.setdefault(starts[at], []).append(at)
        if typed:
            # The broker does not check a typed offset: out of range would mean a reset (E20).
            wanted |= {EARLIEST: places, LATEST: places}
        offsets = await gather(*(self.offsets(cluster, dict.fromkeys(some, at)) for at, some in wanted.items()))
        answers = dict(zip(wanted, offsets, strict=True))
        if led and led == asked and all(at in self.left_out.errors for at in led):
            raise self.left_out.errors[led[0]]  # no leader answered
        if whole and self.left_out.errors:
            raise KcliError("; ".join(self.left_out.sentences()))
        self.left_out.say()
        places = [at for at in places if at not in self.left_out.errors]
        span = {}
        beyond: list[str] = []
        for at in places:
            begin, end = answers[starts[at]][at], answers[stop][at]
            if typed:
                low, high = answers[EARLIEST][at], answers[LATEST][at]
                if begin > max(high, logs.get(at, high)):
                    beyond.append(f"{at.topic}[{at.partition}] ends at offset {high}, before {begin}")
                begin = min(max(begin, low), max(high, logs.get(at, high)))  # it may be a record that is undecided
                end = min(max(end, low), high)
            span[at] = (begin, max(begin, end))
        if reports:
            await self.say_held_back(cluster, logs, {at: answers[stop][at] for at in places})
        if beyond and not self.connection.quiet:
            from kcli.cli.output.messages import complain

            more = f"; so do {len(beyond) - SENTENCES} more partitions" if len(beyond) > SENTENCES else ""
            complain("; ".join(beyond[:SENTENCES]) + more)
        if self.payload is not None:
            return await self.payload.narrow(
                cluster, span, quiet=self.connection.quiet, verbose=self.connection.verbose
            )
        return span


def named_topics(options: TopicOptions) -> list[str]:
    """The topics that a line names, by -t and as arguments."""
    return [*options.topics, *options.words]


def has_times(times: TimeOptions, field: TimeFieldOptions | None) -> bool:
    """Whether a range of times is asked for: of the records' timestamps, or of a field in their values."""
    of_field = field is not None and (field.time_field is not None or field.jitter is not None)
    return times.start is not None or times.end is not None or of_field


def given_filters(options: FilterOptions) -> dict[str, list[str] | str | None]:
    """What leaves records out, by the name of its option. Names of saved progress are made of it."""
    return {
        "grep": options.grep,
        "only_keys": options.only_keys,
        "key_grep": options.key_grep,
        "only_headers": options.only_headers,
        "where": options.where,
        "value_format": options.value_format,
    }


def _filters(options: FilterOptions) -> bool:
    """Whether a line filters. --value-format alone is no filter where it can be about printing."""
    shown = isinstance(options, PrintOptions) and (options.pretty or options.value_format in PRINTED)
    printed = shown or options.value_format in DECODED_FORMATS
    return any(value for name, value in given_filters(options).items() if name != "value_format" or not printed)


async def partitions(cluster: Cluster, topic: str) -> Sequence[int]:
    """A topic's partitions. Raises KcliError with the nearest name for a topic that does not exist."""
    try:
        return await cluster.partitions(topic)
    except BrokerError as problem:
        if problem.code is not codes.UNKNOWN_TOPIC_OR_PARTITION:
            raise
        raise await no_such_topic(cluster, topic) from None


async def no_such_topic(cluster: Cluster, topic: str) -> KcliError:
    """What to say about a topic that does not exist."""
    from kcli.admin.topics.topics import describe_topics
    from kcli.text.suggest import did_you_mean

    try:
        names = list(await describe_topics(cluster, internal=False))
    except KcliError:
        names = []  # the sentence is about the topic; without names it only lacks the hint
    near = did_you_mean(topic, names)
    return KcliError(f"{topic}: this topic does not exist{near or f'; `kcli topics create {topic}` creates it'}")


def finished(error: KcliError, at: TopicPartition, next_offset: int, done: str = "written") -> KcliError:
    """The error of one partition, saying how far its records were written (R2), or what else was done with them."""
    place = f"{at.topic}[{at.partition}]"
    text = str(error) if str(error).startswith(place) else f"{place}: {error}"
    hint = "; --skip-corrupt continues" if isinstance(error, DecodeError) else ""
    reached = f"; {done} up to offset {next_offset}" if next_offset >= 0 else ""
    problem = KcliError(f"{text}{reached}{hint}")
    problem.exit_code = error.exit_code
    return problem
