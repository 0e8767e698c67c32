"""A live tail that costs what is shown, not what passes: more than a screen can show a second is not decoded.

Runs on the client thread. The newest `keep` records are in a ring with arrival numbers; the screen takes what is new
when it has time to draw. What passed by without being kept is counted and said. With `first` it is the other way round:
the oldest `keep` records of all partitions together, by their time, are shown, and then it has read enough.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kcli.admin.topics.topics import describe_topics
from kcli.admin.transactions.undecided import undecided
from kcli.asking.leaders import TopicMissing
from kcli.asking.offsets import LATEST, LogOffset, list_offsets
from kcli.client import Client
from kcli.consumer.consumer import Consumer
from kcli.consumer.held_back import HeldBack
from kcli.consumer.poll import Fetched
from kcli.errors import DeadlineExceeded, KcliError, TopicRecreated
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.proto.batch import Batch
from kcli.serde.filters.filter import Filter
from kcli.settings import ConsumerSettings
from kcli.values import Value

if TYPE_CHECKING:
    from kcli.consumer.consumer import Decode
    from kcli.proto.columns import Headers


class Seen(NamedTuple):
    """A record in the ring; `number` counts arrivals."""

    number: int
    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers


KEEP = 2000
DECODED = 4000  # records a second at most; up to `KEEP` at once
HEED = 2.0  # seconds between two checks whether the topics still exist
WAITING = 5.0  # seconds at a last stable offset before the page names the open transaction
BEAT = 0.1  # seconds between polls: the screen draws no faster, and batches get larger
PATIENCE = 3.0  # seconds that the other partitions wait for one of which nothing comes
PIECE = 1 << 20  # bytes of an export that are written at once


class Counts(Value):
    """What passed, what the filter wanted of it, and how many errors came. `total` is how many offsets there were from
    the start to the end when a search began, `searched` how many of them are behind it."""

    passed: int = 0
    wanted: int = 0
    problems: int = 0
    searched: int = 0
    total: int = 0


class _Search:
    """The records of several partitions, `merged` by time, or by their offsets. What one partition has is held back
    until every other one was read up to that time, is at its end, or has kept the others waiting for PATIENCE
    seconds."""

    def __init__(
        self, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int], *, by_offset: bool = False
    ) -> None:
        self._starts, self._ends, self._by_offset = starts, ends, by_offset
        self.held: list[tuple[float, TopicPartition, int, Seen]] = []  # each with what it is ordered by
        self._newest: dict[TopicPartition, int] = {}  # the latest time of a record so far
        self._many: dict[TopicPartition, int] = dict.fromkeys(starts, 0)
        self._until = {at: -math.inf if start < ends.get(at, start) else math.inf for at, start in starts.items()}
        self._places = dict(starts)
        self._moved = dict.fromkeys(starts, time.monotonic())

    def take(self, at: TopicPartition, new: list[Seen], newest: float, position: int) -> None:
        """`newest` is the time up to which the partition was read, whatever the filter wanted of it."""
        if at not in self._places:
            return
        for record in new:
            self._newest[at] = max(self._newest.get(at, record.timestamp), record.timestamp)
            self.held.append((record.offset if self._by_offset else self._newest[at], at, record.offset, record))
        self._many[at] += len(new)
        if position != self._places[at]:
            self._places[at], self._moved[at] = position, time.monotonic()
        ended = position >= self._ends.get(at, position)
        reached = position - 1 if self._by_offset else newest
        self._until[at] = math.inf if ended else max(self._until[at], reached)

    def released(self, most: int) -> list[Seen]:
        """The first records, where nothing can come before them."""
        now = time.monotonic()
        late = {at for at, moved in self._moved.items() if now - moved > PATIENCE}
        ready = min((until for at, until in self._until.items() if at not in late), default=math.inf)
        self.held.sort()
        many = min(sum(one[0] <= ready for one in self.held), most)
        found, self.held = self.held[:many], self.held[many:]
        return [one[-1] for one in found]

    def ahead(self, most: int) -> list[TopicPartition]:
        """Partitions that hold so many records that no more of theirs can be needed."""
        return [at for at, many in self._many.items() if many >= most]

    @property
    def places(self) -> dict[TopicPartition, int]:
        """Where to read on, after what was released."""
        places = dict(self._places)
        for _, at, offset, _ in self.held:
            places[at] = min(places[at], offset)
        return places

    @property
    def searched(self) -> tuple[int, int]:
        """How many offsets are behind what was released, and of how many."""
        places = self.places
        spans = [(min(places[at], end) - self._starts[at], end - self._starts[at])
                 for at, end in self._ends.items() if at in self._starts and end > self._starts[at]]  # fmt: skip
        return sum(span[0] for span in spans), sum(span[1] for span in spans)


class Tail:
    """Reads `topics` from `back` records before their ends on, or from `starts`: offsets, or one place of all. With
    `first` it ends when it holds the first `keep` that are wanted, by time or `by_offset`, instead of following for
    ever."""

    def __init__(
        self,
        topics: Iterable[str],
        *,
        back: int = 20,
        starts: Mapping[TopicPartition, Bound | int] | Bound | None = None,
        keep: int = KEEP,
        wanted: Filter | None = None,
        first: bool = False,
        by_offset: bool = False,
        isolation: str = "read_committed",
    ) -> None:
        self._by_offset = by_offset
        self._topics = list(topics)
        self._back = back
        self._starts = starts
        self._keep = keep
        self._wanted = wanted
        self._first = first
        self._isolation = isolation
        self._ring: deque[Seen] = deque(maxlen=keep)
        self._number = 0
        self._may, self._since = float(keep), time.monotonic()  # this many may be decoded, since then
        self._search: _Search | None = None
        self.decode: Decode | None = None  # what the filter looks at in place of a batch
        self.counts = Counts()
        self.problem = ""
        self.waiting = ""  # which open transaction it waits for, in a sentence
        self.gone: list[str] = []  # topics that are not there now
        self._anew: set[str] = set()  # topics that are others now, under the name of old ones

    @property
    def filters(self) -> bool:
        return self._wanted is not None

    async def follow(self, client: Client) -> None:
        """Until cancelled; with `first` until there is enough. Raises KcliError for what ends a consumer."""
        async with client.consumer(settings=_settings(self._isolation)) as consumer:
            consumer.assign(await self._places(client))
            if self.filters:
                consumer.decode = self.decode
            if self._first:
                self._search = await self._begin(client, consumer)
            heeding = asyncio.create_task(self._heed(client, consumer), name="heed topics")
            try:
                while not self.full:
                    got = await consumer.poll(PATIENCE)
                    self._take(got)
                    await asyncio.sleep(BEAT if self._search is None or not self._searching else 0)
                    while not self.full and (more := await consumer.poll(0)):  # all that came meanwhile, in one step
                        self._take(more)
                        await asyncio.sleep(0)
                    if self._search is not None and (ahead := self._search.ahead(self._keep)):
                        consumer.pause(*ahead)
                    if self._anew:
                        await self._begin_anew(client, consumer)
            finally:
                heeding.cancel()
                await asyncio.wait({heeding})

    @property
    def full(self) -> bool:
        """Whether it has read enough."""
        return self._first and len(self._ring) == self._keep

    @property
    def following(self) -> dict[TopicPartition, int]:
        """Where a search that is full continues."""
        return self._search.places if self._search is not None else {}

    @property
    def _searching(self) -> bool:
        return self.counts.searched < self.counts.total and not self.full

    @property
    def searches(self) -> bool:
        """Whether it has not reached what was the end when it began."""
        return (self._first and self._search is None) or self._searching

    async def _begin(self, client: Client, consumer: Consumer) -> _Search:
        """Where each partition starts and ends; one of which that is not known in time is not waited for."""
        try:
            await consumer.positioned(PATIENCE)
        except DeadlineExceeded as problem:
            self.problem = str(problem)
        known = {at: consumer.position(at) for at in consumer.assignment}
        starts = {at: place for at, place in known.items() if place is not None}
        ends = await ends_of(client, starts, self._isolation)
        return _Search(starts, ends, by_offset=self._by_offset)

    async def export(self, client: Client, write: Callable[[bytearray], object]) -> None:
        """Write every record that the filter wants, from the start to what is the end now, as `consume -J` does.
        Raises KcliError."""
        async with client.consumer(settings=_settings(self._isolation)) as consumer:
            consumer.assign(await self._places(client))
            await consumer.positioned()
            starts = {at: consumer.position(at) or 0 for at in consumer.assignment}
            ends = {at: max(end, starts[at]) for at, end in (await ends_of(client, starts, self._isolation)).items()}
            if missing := starts.keys() - ends.keys():
                raise KcliError(f"the end of {', '.join(f'{t}[{n}]' for t, n in sorted(missing))} is not known")
            consumer.stop_at(ends)
            if self.filters:
                consumer.decode = self.decode
            self.counts.total, out = sum(ends.values()) - sum(starts.values()), bytearray()
            while not consumer.finished:
                for fetched in await consumer.poll():
                    if fetched.error is not None:
                        raise fetched.error
                    for batch, topic, partition in self._wanted_of(fetched):
                        batch.write_json(out, topic, partition)
                    at = TopicPartition(fetched.topic, fetched.partition)
                    self.counts.searched += fetched.next_offset - starts[at]
                    starts[at] = fetched.next_offset
                if len(out) >= PIECE or consumer.finished:
                    write(out)
                    out = bytearray()
            write(out)
            self.counts.searched = self.counts.total

    async def _heed(self, client: Client, consumer: Consumer) -> None:
        """Check whether the topics still exist: of a deleted one nothing would ever come, without an error. Check
        whether the consumer waits for an open transaction, too."""
        held_back = HeldBack()
        while True:
            await asyncio.sleep(HEED)
            ends = held_back.lasting(consumer.undecided(), time.monotonic(), WAITING)
            self.waiting = (await undecided(client.cluster, ends) or "") if ends else ""
            try:
                topics = await describe_topics(client.cluster, self._topics)
            except KcliError:
                continue  # no broker answers: the page says so, and the consumer asks again
            self.gone = [name for name, topic in topics.items() if isinstance(topic, TopicMissing)]
            if any(topic in self.problem for topic in self.gone):
                self.problem = ""

    async def _begin_anew(self, client: Client, consumer: Consumer) -> None:
        """Read a topic that was deleted and created again from its beginning, and continue with the others."""
        topics, self._anew = self._anew, set()
        await client.cluster.refresh(sorted(topics))
        places: dict[TopicPartition, Bound | int] = {
            at: Bound("latest") if (position := consumer.position(at)) is None else position
            for at in consumer.assignment
            if at.topic not in topics
        }
        for topic in topics:
            places |= {TopicPartition(topic, n): Bound("earliest") for n in await client.cluster.partitions(topic)}
        consumer.assign(places)
        self.problem = f"{', '.join(sorted(topics))}: deleted and created again, read from the beginning"

    async def _places(self, client: Client) -> dict[TopicPartition, Bound | int]:
        if isinstance(self._starts, Mapping):
            return dict(self._starts)
        start = self._starts or Bound("relative", self._back)
        return {
            TopicPartition(topic, partition): start
            for topic in self._topics
            for partition in await client.cluster.partitions(topic)
        }

    def _take(self, got: list[Fetched]) -> None:
        if self._search is not None:
            self._keep_new(self._searched(got, self._search))
            return
        kept = [one for fetched in got for one in self._wanted_of(fetched)]
        count = sum(batch.visible for batch, _, _ in kept)
        now = time.monotonic()
        self._may = min(self._may + (now - self._since) * DECODED, self._keep)
        self._since = now
        share = min(self._may / count, 1.0) if count else 1.0
        new = [record for batch, topic, partition in kept for record in _last_of(batch, topic, partition, share)]
        self._may = max(self._may - len(new), 0.0)
        self._keep_new(merged(new)[-self._keep :])

    def _keep_new(self, new: list[Seen]) -> None:
        for record in new:
            self._number += 1
            self._ring.append(record._replace(number=self._number))

    def _searched(self, got: list[Fetched], search: _Search) -> list[Seen]:
        """Records that are the next ones by their time, as many as there is room for."""
        for fetched in got:
            at = TopicPartition(fetched.topic, fetched.partition)
            new: list[Seen] = []
            for batch, topic, partition in self._wanted_of(fetched):
                new += _last_of(batch, topic, partition, 1.0)
            newest = max((float(batch.max_timestamp) for batch in fetched.batches), default=-math.inf)
            if fetched.error is None:
                search.take(at, new, newest, fetched.next_offset)
        found = search.released(self._keep - len(self._ring))
        self.counts.searched, self.counts.total = search.searched
        return found

    def _wanted_of(self, fetched: Fetched) -> Iterator[tuple[Batch, str, int]]:
        """What the filter wants of a partition's batches; all is counted."""
        if fetched.error is not None:
            self.counts.problems += 1
            self.problem = str(fetched.error)
            if isinstance(fetched.error, TopicRecreated):
                self._anew.add(fetched.topic)
        for batch in fetched.batches:
            self.counts.passed += batch.visible
            kept = batch if self._wanted is None else self._wanted.batch(batch, fetched.topic, fetched.partition)
            if kept is not None:
                self.counts.wanted += kept.visible
                yield as_stored(kept), fetched.topic, fetched.partition

    def __len__(self) -> int:
        """How many records are in the ring."""
        return len(self._ring)

    def since(self, number: int) -> list[Seen]:
        """What arrived after the record of that number, oldest first; at most what the ring holds. Asked on another
        thread than the ring is filled on: a deque may be copied while it is appended to, and not gone through."""
        return [record for record in list(self._ring) if record.number > number]


def as_stored(batch: Batch) -> Batch:
    """The same records as they are stored."""
    stored: Batch | None = getattr(batch, "stored", None)  # of a batch that was decoded
    return batch if stored is None else stored.window(batch.first, batch.stop)


def _last_of(batch: Batch, topic: str, partition: int, share: float) -> list[Seen]:
    """The last records of a batch: this share of them, one at least."""
    if share < 1.0:
        batch.first = max(batch.first, batch.last_offset + 1 - max(int(batch.visible * share), 1))
    return [Seen(0, topic, partition, *record) for record in batch]


def merged(records: Iterable[Seen]) -> list[Seen]:
    """Merge partitions by time, each in its own order: a record whose timestamp is older than that of one before it
    follows that one. Sorted by time alone, late records would come before the place that was asked for."""
    newest: dict[tuple[str, int], int] = {}
    keyed = []
    for n, record in enumerate(records):
        at = record.topic, record.partition
        newest[at] = max(newest.get(at, record.timestamp), record.timestamp)
        keyed.append((newest[at], at, n, record))
    return [one[-1] for one in sorted(keyed)]


def by_offset(record: Seen) -> tuple[int, str, int]:
    """By offset, of all partitions."""
    return record.offset, record.topic, record.partition


async def ends_of(client: Client, ats: Iterable[TopicPartition], isolation: str) -> dict[TopicPartition, int]:
    """The ends of those partitions whose leader answers."""
    answers = await list_offsets(client.cluster, dict.fromkeys(ats, LATEST), isolation)
    return {at: end.offset for at, end in answers.items() if isinstance(end, LogOffset)}


def _settings(isolation: str) -> ConsumerSettings:
    return ConsumerSettings(isolation=isolation, reset="earliest", decompress=False)


async def stretch(
    client: Client, spans: dict[TopicPartition, tuple[int, int]], isolation: str = "read_committed"
) -> list[Seen]:
    """The records of each span of offsets: its first, and the one after its last, as far as the log may be read.
    Raises KcliError."""
    limits = await ends_of(client, spans, isolation)
    spans = {at: (start, min(stop, limits.get(at, start))) for at, (start, stop) in spans.items()}
    wanted = {at: span for at, span in spans.items() if span[0] < span[1]}
    found: list[Seen] = []
    if not wanted:
        return found
    async with client.consumer(settings=_settings(isolation)) as consumer:
        consumer.assign({at: start for at, (start, _) in wanted.items()})
        consumer.stop_at({at: stop for at, (_, stop) in wanted.items()})
        while not consumer.finished:
            for fetched in await consumer.poll():
                if fetched.error is not None:
                    raise fetched.error
                for batch in fetched.batches:
                    found += _last_of(batch, fetched.topic, fetched.partition, 1.0)
    return found
