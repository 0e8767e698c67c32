"""Sends dead letters back to where they came from, a slice at a time.

A slice is published and acknowledged before its position is stored: an interrupted redrive may publish records again,
and omits none. The position is stored with the offsets that were sent (`sent.py`). A record that cannot go back is
counted under its reason, never silently skipped; with `skip` False it ends the work, and the position stays before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from kcli import codes
from kcli.copying.originals import records_at
from kcli.copying.positions import Positions
from kcli.copying.rate import Rate
from kcli.copying.sent import Sent
from kcli.errors import BrokerError, KcliError, UnknownOutcome
from kcli.model import Cluster, GroupMetadata, OffsetAndMetadata, TopicPartition
from kcli.producer.batches.batch import RecordMetadata
from kcli.producer.producer import Producer
from kcli.proto.columns import Record
from kcli.serde.origin import Origins, attempts_of, original_of, with_attempts
from kcli.values import Frozen, Value, field

if TYPE_CHECKING:
    from kcli.serde.origin import Headers

    Row = tuple[int | None, int | None, bytes | None, bytes | None, Headers]

SLICE = 2_000  # records on their way at once
STORE_EVERY = 1.0  # seconds
NO_ORIGIN = "no header names its topic"
ITSELF = "its topic is the dead-letter topic itself"
TOO_OFTEN = "was redriven too often"
MISSING = "the topic does not exist"
GONE = "the dead letter has no copy of the record, and its topic no longer has the record"


class Rules(Frozen):
    """`to` is where records without an origin go; `skip_missing` skips them instead of failing."""

    dlq: str = ""
    origins: Origins = None  # type: ignore[assignment]  # always given
    to: str | None = None
    skip_missing: bool = False
    keep_headers: bool = False
    max_attempts: int = 3
    repartition: bool = False
    now: bool = False
    skip: bool = False

    def target(self, record: Record) -> tuple[str | None, int | None, str]:
        """Return the topic and partition for a record, or None, None and the reason."""
        if attempts_of(record.headers) >= self.max_attempts:
            return None, None, TOO_OFTEN
        topic, partition = self.origins.of(record.headers) or (self.to, None)
        if topic is None:
            return None, None, NO_ORIGIN
        if topic == self.dlq:
            return None, None, ITSELF
        return topic, None if self.repartition else partition, ""

    def row(self, record: Record, partition: int | None) -> Row:
        """Return the record as it is published."""
        headers = record.headers if self.keep_headers else self.origins.cleaned(record.headers)
        timestamp = None if self.now or record.timestamp < 0 else record.timestamp
        marked = with_attempts(headers, attempts_of(record.headers) + 1)
        return partition, timestamp, record.key, record.value, marked


class Line(Value):
    """The outcomes of the records of one target, or of one reason."""

    records: int = 0
    redriven: int = 0
    skipped: int = 0
    failed: int = 0
    unknown: int = 0
    note: str = ""


class Account(Value):
    """Every record read is filtered, sent before, or in one line: `records` of a line is the sum of its other counts,
    except for what was not attempted any more."""

    read: int = 0
    filtered: int = 0
    sent_before: int = 0
    lines: dict[tuple[str | None, str], Line] = field(factory=dict)

    def line(self, topic: str | None, reason: str = "") -> Line:
        return self.lines.setdefault((topic, reason), Line(note=reason))

    def total(self, name: str) -> int:
        return sum(getattr(line, name) for line in self.lines.values())


class Targets:
    """The number of partitions of target topics, looked up once; 0 for a topic that does not exist."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: dict[str, int] = {}

    async def partitions(self, topic: str) -> int:
        """Return the number of partitions. Raises KcliError if it cannot be determined."""
        if topic not in self._known:
            try:
                self._known[topic] = len(await self._cluster.partitions(topic))
            except BrokerError as problem:
                if problem.code not in (codes.UNKNOWN_TOPIC_OR_PARTITION, codes.INVALID_TOPIC_EXCEPTION):
                    raise
                self._known[topic] = 0
        return self._known[topic]

    async def with_originals(self, records: Sequence[Record]) -> tuple[Sequence[Record], set[int]]:
        """Return the records, with the original in place of each dead letter of a share group, and the indexes of those
        whose original is gone.

        A dead letter with a copy of key and value, but not of time and headers, is the next best, and is kept if
        another record is at the place of its original. Raises KcliError if it is unknown whether an original exists.
        """
        places: dict[int, tuple[TopicPartition, int]] = {}
        for index, record in enumerate(records):
            if (origin := original_of(record.headers)) is not None:
                topic, partition, offset = origin
                # the headers name a topic or partition that does not exist
                if partition < await self.partitions(topic):
                    places[index] = TopicPartition(topic, partition), offset
        if not places:
            return records, set()
        wanted: dict[TopicPartition, set[int]] = {}
        for at, offset in places.values():
            wanted.setdefault(at, set()).add(offset)
        found = await records_at(self._cluster, wanted)
        whole, gone = list(records), set()
        for index, (at, offset) in places.items():
            originals, letter = found[at], records[index]
            copied = letter.key is not None or letter.value is not None
            if isinstance(originals, KcliError):
                raise originals
            original = originals.get(offset)
            if original is None and not copied:
                gone.add(index)
            elif original is not None and (not copied or original[2:4] == letter[2:4]):
                headers = [*letter.headers, *original.headers]
                whole[index] = original._replace(offset=letter.offset, headers=headers)
        return whole, gone


class Redriver:
    """Sends records back. `producer` None only counts (a dry run); `positions` None stores nothing. `sent` is what was
    already sent under the name of these positions."""

    def __init__(
        self,
        rules: Rules,
        targets: Targets,
        producer: Producer | None,
        *,
        positions: Positions | None = None,
        sent: dict[TopicPartition, Sent] | None = None,
        rate: Rate | None = None,
        transactional: bool = False,
    ) -> None:
        self._rules = rules
        self._targets = targets
        self._producer = producer
        self._positions = positions
        self._rate = rate
        self._transactional = transactional
        self._done: dict[TopicPartition, int] = {}
        self._sent = sent or {}
        self._joined: dict[TopicPartition, int] = {}
        self._whole = False
        self._stored_at = 0.0
        self.account = Account()
        self.resting = False  # waiting only because of the rate
        self.unanswered = 0  # records on their way, which may be published but are not yet in their account
        self.problem: KcliError | None = None

    @property
    def slice(self) -> int:
        """Number of records that may be taken at once."""
        return SLICE if self._rate is None else min(SLICE, self._rate.slice)

    async def take(self, at: TopicPartition, records: Sequence[Record], *, whole: bool = False) -> None:
        """Send a slice of a partition back. `whole`: no record between these, or since the previous ones, was filtered.
        Raises KcliError for errors that do not concern a single record."""
        if not whole:
            self.gap(at)
        self._whole = whole
        records, gone = await self._targets.with_originals(records)
        by_topic: dict[str, list[tuple[int, Row]]] = {}
        for index, record in enumerate(records):
            topic, reason = await self._place(record, index, by_topic, gone=index in gone)
            if reason and not self._left_out(topic, reason, at, record):
                records = records[:index]
                break
        if self._producer is None:
            return
        if by_topic:
            await self._slow_down(records)
            following = await self._publish(at, records, by_topic)
        else:
            following = records[-1].offset + 1 if records else None
            self._note(at, records, ())
        if following is not None:
            self._done[at] = following
        await self._store_in_time()

    def passed(self, at: TopicPartition, following: int) -> None:
        """Everything of a partition before an offset is processed, even if nothing had to be sent."""
        if self._producer is not None and self.problem is None:
            self._done[at] = following

    def gap(self, at: TopicPartition) -> None:
        """Records of a partition were not sent: what is sent next starts a new run."""
        self._joined.pop(at, None)

    def _note(self, at: TopicPartition, records: Sequence[Record], sent: Collection[int]) -> None:
        """Note which of these records were sent, by their indexes. A run continues over offsets without a record."""
        runs = self._sent.setdefault(at, Sent())
        for index, record in enumerate(records):
            if index in sent:
                runs.add(self._joined.get(at, record.offset), record.offset + 1)
                if self._whole:
                    self._joined[at] = record.offset + 1
            else:
                self.gap(at)

    def _commits(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return what has to be stored; it then counts as stored."""
        done, self._done = self._done, {}
        return {
            at: OffsetAndMetadata(offset, metadata=self._sent.get(at, Sent()).text()) for at, offset in done.items()
        }

    async def _place(
        self, record: Record, index: int, by_topic: dict[str, list[tuple[int, Row]]], *, gone: bool
    ) -> tuple[str | None, str]:
        """Add a record to its target. Returns the target (None if there is none) and the reason."""
        topic, partition, reason = self._rules.target(record)
        if topic is None:
            return None, reason
        count = await self._targets.partitions(topic)
        if not count:
            return topic, MISSING
        if gone:
            return topic, GONE
        self.account.line(topic).records += 1
        if partition is not None and partition >= count:
            partition = None  # the topic has fewer partitions now: choose by key
        by_topic.setdefault(topic, []).append((index, self._rules.row(record, partition)))
        return topic, ""

    def _left_out(self, topic: str | None, reason: str, at: TopicPartition, record: Record) -> bool:
        """Count a record that cannot be sent; return False if the work ends there."""
        line = self.account.line(topic, reason)
        line.records += 1
        if reason is TOO_OFTEN or (reason is NO_ORIGIN and self._rules.skip_missing):
            line.skipped += 1
            return True
        line.failed += 1
        if self._rules.skip or self._producer is None:
            return True
        place = f"{at.topic}[{at.partition}] offset {record.offset}"
        what = reason if topic is None else f"{topic}: {reason}"
        hint = {NO_ORIGIN: "no-origin", MISSING: "create-topic"}.get(reason, "skip-error")
        self.problem = KcliError(f"{place}: {what}").hinted(hint, topic=topic)
        return False

    async def _publish(
        self, at: TopicPartition, records: Sequence[Record], by_topic: dict[str, list[tuple[int, Row]]]
    ) -> int | None:
        """Publish rows by topic. Returns the offset before which everything is processed."""
        try:
            return await self._publish_slice(at, records, by_topic)
        except (KcliError, asyncio.CancelledError):
            for topic, rows in by_topic.items():  # responses do not count individually: a slice is counted as a whole
                name = "unknown" if self.unanswered else "failed"
                line = self.account.line(topic)
                setattr(line, name, getattr(line, name) + len(rows))
            raise
        finally:
            self.unanswered = 0

    async def _publish_slice(
        self, at: TopicPartition, records: Sequence[Record], by_topic: dict[str, list[tuple[int, Row]]]
    ) -> int | None:
        """Like `_publish`; while records may be published but not counted, `unanswered` has their number."""
        assert self._producer is not None
        if self._transactional:
            await self._producer.begin()
        else:
            self.unanswered = sum(map(len, by_topic.values()))
        sent = await asyncio.gather(
            *(self._producer.send_all(topic, [row for _, row in rows]) for topic, rows in by_topic.items())
        )
        results: dict[int, tuple[str, RecordMetadata | BaseException]] = {}
        for (topic, rows), answers in zip(by_topic.items(), sent, strict=True):
            results.update({index: (topic, answer) for (index, _), answer in zip(rows, answers, strict=True)})
        wrong = [
            (index, problem) for index, (_, problem) in sorted(results.items()) if isinstance(problem, BaseException)
        ]
        following = records[-1].offset + 1 if records else None
        if wrong and not self._rules.skip:
            first, problem = wrong[0]
            place = f"{at.topic}[{at.partition}] offset {records[first].offset}"
            self.problem = self.problem or KcliError(f"{place} to {results[first][0]}: {problem}")
            following = records[first].offset
        if self._transactional and not await self._decide(at, records, following, results, failed=bool(wrong)):
            return None
        if not self._transactional:
            self._note(
                at, records, [index for index, (_, answer) in results.items() if isinstance(answer, RecordMetadata)]
            )
        for topic, answer in results.values():
            line = self.account.line(topic)
            if isinstance(answer, UnknownOutcome):
                line.unknown += 1
            elif isinstance(answer, BaseException):
                line.failed += 1
                line.note = line.note or str(answer)
            else:
                line.redriven += 1
        return following

    async def _decide(
        self,
        at: TopicPartition,
        records: Sequence[Record],
        following: int | None,
        results: dict[int, tuple[str, RecordMetadata | BaseException]],
        *,
        failed: bool,
    ) -> bool:
        """Commit the slice with its position, or abort it: then none of it is published, and all of it failed."""
        assert self._producer is not None
        if failed or following is None:
            await self._producer.abort()
            for topic, _ in results.values():
                self.account.line(topic).failed += 1
            return False
        if self._positions is not None:
            self._done[at] = following
            self._note(at, records, results)
            await self._producer.send_offsets(self._commits(), GroupMetadata(self._positions.group))
        self.unanswered = len(results)
        try:
            await self._producer.commit()
        except UnknownOutcome:
            raise
        except KcliError:
            self.unanswered = 0  # certainly not committed
            raise
        return True

    async def _slow_down(self, records: Sequence[Record]) -> None:
        if self._rate is not None:
            size = sum(len(record.key or b"") + len(record.value or b"") for record in records)
            wait = self._rate.take(len(records), size, asyncio.get_running_loop().time())
            if wait > 0:
                self.resting = True
                try:
                    await asyncio.sleep(wait)
                finally:
                    self.resting = False

    async def _store_in_time(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._stored_at >= STORE_EVERY:
            self._stored_at = now
            await self.store()

    async def store(self) -> None:
        """Store the position. Raises KcliError."""
        if self._positions is not None and self._done:
            await self._positions.write(self._commits())
