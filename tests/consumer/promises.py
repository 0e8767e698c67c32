"""Random programs against the consumer's promise, for every way of reading; each the same every time from its seed.

A program takes records, stops in the middle, seeks, pauses, commits, fails, is cancelled, stands still, crashes and
starts again, while a rival joins and leaves its group. A book of what the program has done is kept beside it:

- nothing is committed that was not done, and what is done is committed when the program ends in order;
- within an assignment no record comes twice and none is skipped, so that none is done twice without a rebalance, a
  crash or a seek back;
- a member that asks for records within max_poll_interval stays in its group;
- at the end every record is done.

`python -m tests.consumer.promises FIRST COUNT` runs many.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import Any
from unittest.mock import patch

from kcli.consumer.consumer import Consumer
from kcli.consumer.workers import Workers
from kcli.errors import BrokerError, ConnectError, KcliError, UsageError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.proto.messages.offset_commit import OffsetCommitRequest
from kcli.settings import ConsumerSettings, GroupSettings
from kcli.sync.consumer import SyncConsumer
from tests.consumer.group.fake_848 import Fake848
from tests.consumer.group.fakes import FakeKafka
from tests.consumer.log import FakeCluster, Log, batch
from tests.consumer.schedules import MOVED_ON, main
from tests.producer.world import JumpingLoop, cancelled

WAYS = (
    "async for", "async poll", "async mixed", "decode", "assign", "workers", "sync for", "sync poll", "sync mixed",
    "sync commit", "async messages", "async messages mixed",
)  # fmt: skip
PROTOCOLS = ("range", "cooperative-sticky", "consumer")
TPS = [TopicPartition("t", n) for n in range(3)]
STEPS = 25
INTERVAL = 3.0  # max_poll_interval
RESTS = (0, 0, 0.05, 0.3, 1.0, 2.5)
SETTINGS = ConsumerSettings(fetch_max_wait=0.2, partition_max_bytes=700, retry_backoff=0.01)
PATIENCE = 1.0  # seconds of a program's wait
PEACE = 200.0


class Broken(Exception):
    """The program fails."""


def log_of(dice: Any) -> Any:
    """Batches, with markers and gaps between them and at the end."""
    log = Log()
    for _ in range(5):
        log.fill(8, size=8)
        what = dice.choice(["", "marker", "gap"])
        if what == "marker":
            log.add(batch(log.end, [b""], marker="commit"))
        elif what == "gap":
            log.add(batch(log.end, [b"x"], last=log.end + 3))
    return log


class Dead:
    """The coordinator, or a broker, of a process that crashed."""

    async def ask(self, request: Any, **how: Any) -> None:
        raise ConnectError("crashed", sent=False)

    async def versions(self) -> None:
        raise ConnectError("crashed", sent=False)


class World(FakeCluster):
    """The way of one process to the logs and the group."""

    def __init__(self, schedule: Any, program: Any) -> None:
        super().__init__(schedule.logs)
        self.group, self.schedule, self.program = schedule.group, schedule, program
        self.ids = {"t": self.group.topic_id("t")}
        self.dead = False

    async def partitions(self, topic: Any) -> Any:
        return range(len(TPS))

    async def coordinator(self, of: Any) -> Any:
        return Dead() if self.dead else Desk(self)

    def __getattr__(self, name: Any) -> Any:
        return getattr(self.group, name)


class Desk:
    """The coordinator, which looks at what is committed."""

    def __init__(self, world: Any) -> None:
        self.world = world

    def __getattr__(self, name: Any) -> Any:
        return getattr(self.world.group, name)

    async def ask(self, request: Any, **how: Any) -> Any:
        world = self.world
        if world.dead:
            raise ConnectError("crashed", sent=False)
        if isinstance(request, OffsetCommitRequest):
            simple = request.generation_id_or_member_epoch < 0
            if simple or not world.group._judge(request.member_id, request.generation_id_or_member_epoch):
                for topic in request.topics:
                    for one in topic.partitions:
                        world.schedule.book.committed(TopicPartition("t", one.partition_index), one.committed_offset)
        return await world.group.ask(request, **how)


class Book:
    """What was done, by anybody."""

    def __init__(self, logs: Any, loop: Any) -> None:
        self.loop = loop
        self.records = {at: sorted(offsets(log)) for at, log in logs.items()}
        self.done: dict[Any, set[int]] = {at: set() for at in logs}
        self.under_way: set[Any] = set()  # partitions that a commit from before a seek may still be about

    def between(self, at: Any, first: Any, stop: Any) -> Any:
        return [offset for offset in self.records[at] if first <= offset < stop]

    def committed(self, at: Any, offset: Any) -> None:
        missing = set(self.between(at, 0, offset)) - self.done[at]
        late = at in self.under_way
        self.under_way.discard(at)
        assert not missing or late, f"{offset} of {at.partition} is committed, not done are {sorted(missing)}"

    def sought(self, at: Any, to: Any, *, under_way: Any) -> None:
        """What is before this place is done, or not to be done; what is behind it is not done."""
        if under_way:
            self.under_way.add(at)
        self.done[at] = set(self.between(at, 0, to))


def offsets(log: Any) -> Any:
    """Of the records that a reader sees."""
    for base, _, data in log.batches:
        if not data[22] & 32:
            count = int.from_bytes(data[57:61], "big")
            yield from range(base, base + count)


class Program:
    """One process: its consumer, what it has in hand, and what must come next."""

    def __init__(self, schedule: Any, settings: Any) -> None:
        self.schedule, self.dice, self.book = schedule, schedule.dice, schedule.book
        self.settings = settings
        self.world = World(schedule, self)
        self.following: dict[Any, int] = {}
        self.hand: list[tuple[Any, int]] = []
        self.given_back: set[Any] = set()
        self.paused: set[Any] = set()
        self.asked = self.now  # when the program last asked for records
        self.excused = False  # thrown out, or crashed
        self.consumer: Any = None

    @property
    def now(self) -> Any:
        return self.schedule.loop.time()

    def make(self, settings: Any = SETTINGS, group: Any = None) -> Any:
        self.consumer = Watched(self.world, settings, group or self.settings)
        self.consumer.program = self
        return self.consumer

    # -- the book ---------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        """What is in hand is done."""
        for at, offset in self.hand:
            self.book.done[at].add(offset)
        self.hand.clear()
        self.excused = self.excused or self.now - self.asked > INTERVAL - 0.01
        self.asked = self.now

    def take(self, at: Any, taken: Any, following: Any, *, hand: Any = True) -> None:
        self.asked = self.now
        self.schedule.note("took", type(self).__name__, at.partition, taken, following)
        assert at in self.following, f"{at.partition} is not assigned"
        assert at not in self.paused, f"{at.partition} is paused"
        assert not hand or not self.consumer._reader.cursors[at].pending_revoke, f"{at.partition} is being given up"
        due = self.book.between(at, self.following[at], following)
        assert taken == due, f"of {at.partition} came {taken}, due were {due}"
        self.following[at] = following
        if hand:
            self.hand += [(at, offset) for offset in taken]

    def take_all(self, got: Any) -> None:
        for fetched in got:
            assert fetched.error is None
            at = TopicPartition(fetched.topic, fetched.partition)
            self.take(at, [one.offset for each in fetched.batches for one in each], fetched.next_offset)

    def assigned(self, partitions: Any) -> None:
        self.excused = self.excused and not partitions
        for at in sorted(partitions):
            known = self.schedule.group.committed.get(at)
            assert at not in self.following
            self.following[at] = 0 if known is None else known.offset
            self.book.done[at] = set(self.book.between(at, 0, self.following[at]))
            self.schedule.note("assigned", type(self).__name__, at.partition, self.following[at])

    def revoked(self, partitions: Any) -> None:
        self.schedule.note("revoked", type(self).__name__, sorted(at.partition for at in partitions))
        self.given_back |= partitions
        self.hand = [one for one in self.hand if one[0] not in partitions]
        for at in partitions:
            del self.following[at]
            self.paused.discard(at)

    def lost(self, partitions: Any) -> None:
        self.revoked(partitions)
        self.given_back -= partitions
        idle = self.now - self.asked
        if not self.excused and idle < INTERVAL:
            self.schedule.problems.append(f"lost {idle:.2f} s after the program asked for records")

    def sought(self, at: Any, to: Any) -> None:
        self.hand = [one for one in self.hand if one[0] != at]
        self.following[at] = to
        session = self.consumer._session
        self.book.sought(at, to, under_way=session is not None and session._offsets.busy)

    # -- what may be asked of every consumer --------------------------------------------------------------------------

    def ask_to_commit(self) -> None:
        """What is in hand is done, but no records are asked for."""
        asked, excused = self.asked, self.excused
        self.ask()
        self.asked, self.excused = asked, excused

    def crash(self) -> None:
        """Nothing of it reaches a broker any more."""
        self.world.dead = self.excused = True
        self.expel()

    def expel(self) -> None:
        """The coordinator forgets the member."""
        member = self.consumer.group_metadata().member_id
        if member in self.schedule.group.members:
            self.excused = True
            self.schedule.group.fence(member)
            self.schedule.group._maybe_complete()

    def check_left(self) -> None:
        """The program left in order: what is done is committed, if its partitions were not taken away before."""
        if not self.settings.commits_by_itself and self.schedule.way != "workers":
            return
        rival = self.schedule.other
        for at in self.given_back - set(() if rival is None else rival.following):
            place = self.schedule.group.committed.get(at)
            begin = 0 if place is None else place.offset
            late = [offset for offset in self.book.done[at] if offset >= begin]
            assert not late, f"{at.partition} is committed at {begin}, done are {late}"


class Watched(Consumer):
    """A consumer whose program hears of its partitions."""

    program: Any

    def seek(self, at: Any, to: Any) -> None:
        super().seek(at, to)
        self.program.sought(at, to)

    async def subscribe(
        self, topics: Any, *, on_assigned: Any = None, on_revoked: Any = None, on_lost: Any = None
    ) -> None:
        program = self.program

        async def assigned(partitions: Any) -> None:
            program.assigned(partitions)
            if on_assigned is not None:
                await on_assigned(partitions)

        async def revoked(partitions: Any) -> None:
            if on_revoked is not None:  # workers may still finish what they do
                await on_revoked(partitions)
            program.revoked(partitions)

        async def lost(partitions: Any) -> None:
            program.lost(partitions)
            if on_lost is not None:
                await on_lost(partitions)

        await super().subscribe(topics, on_assigned=assigned, on_revoked=revoked, on_lost=lost)


class Steps(Program):
    """A program that goes step by step. The kinds say how records are asked for."""

    ACTIONS: tuple[str, ...] = (
        "take", "take", "take", "take", "rest", "seek", "pause", "resume", "commit", "commit some", "leave", "fail",
        "crash", "rival", "expel", "again", "still",
    )  # fmt: skip

    def choose(self) -> Any:
        what = self.dice.choice(self.ACTIONS)
        if what in ("still", "fail", "crash", "expel") and self.dice.random() < 0.6:
            what = "take"
        self.schedule.note(what)
        return what

    def places(self) -> Any:
        """Offsets to commit by hand: what is in hand of one partition, or nothing."""
        if not self.hand:
            return {}
        at, offset = self.dice.choice(self.hand)
        if at not in self.following:
            return {}
        for one in [one for one in self.hand if one[0] == at and one[1] <= offset]:
            self.book.done[at].add(one[1])
        return {at: offset + 1}


class AsyncProgram(Steps):
    """A program on the loop."""

    async def begin(self) -> None:
        self.make()
        if self.schedule.way == "assign":
            self.assigned(TPS)
            self.consumer.assign(dict.fromkeys(TPS, Bound("stored")))
            await self.consumer.positioned()
        else:
            await self.consumer.subscribe(["t"])
        if self.schedule.way == "decode":
            self.consumer.decode = self.decode

    async def decode(self, batch: Any, topic: Any, partition: Any) -> Any:
        what = self.dice.random()
        if what < 0.1:
            raise Broken
        if what < 0.3:
            await asyncio.sleep(self.dice.choice([0, 0.1, 2 * PATIENCE]))
        return batch

    async def take_some(self, patience: Any = PATIENCE) -> None:
        loops = self.schedule.way in ("async for", "decode") or (
            self.schedule.way == "async mixed" and self.dice.random() < 0.5
        )
        messages = self.schedule.way == "async messages" or (
            self.schedule.way == "async messages mixed" and self.dice.random() < 0.6
        )
        with contextlib.suppress(TimeoutError, Broken):
            async with asyncio.timeout(patience):
                if messages:
                    await self.take_messages()
                    return
                if not loops:
                    self.ask()
                    self.take_all(await self.consumer.poll(max_records=self.dice.choice([None, None, 1, 3])))
                    return
                left = self.dice.randrange(4)
                self.ask()
                async for fetched in self.consumer:
                    self.take_all([fetched])
                    if self.dice.random() < 0.1:
                        raise Broken
                    if left == 0:
                        break
                    left -= 1
                    await asyncio.sleep(self.dice.choice([0, 0, 0.05]))
                    self.ask()

    async def take_messages(self) -> None:
        left = self.dice.choice([0, 1, 4, 11])
        self.ask()
        async for message in self.consumer.messages():
            self.take(TopicPartition(message.topic, message.partition), [message.offset], message.offset + 1)
            if self.dice.random() < 0.05:
                raise Broken
            if left == 0:
                break
            left -= 1
            await asyncio.sleep(self.dice.choice([0, 0, 0, 0.05]))
            self.ask()

    async def step(self) -> None:
        what, at = self.choose(), self.dice.choice(TPS)
        consumer = self.consumer
        if what == "take":
            await self.take_some()
        elif what in ("rest", "still"):
            await asyncio.sleep(self.dice.choice(RESTS) if what == "rest" else INTERVAL + 2)
        elif what == "commit":
            self.ask_to_commit()
            await moving(consumer.commit())
        elif what == "commit some":
            if places := self.places():
                await moving(consumer.commit(places))
        elif what in ("leave", "fail", "crash"):
            await self.end(what)
            await self.schedule.again()
        elif what in ("rival", "expel", "again"):
            await self.schedule.disturb(what)
        elif at in self.following and at in consumer.assignment:
            if what == "seek" and not self.excused:  # the partition may belong to the rival by now
                to = self.dice.randrange(self.schedule.logs[at].end + 1)
                consumer.seek(at, to)
            elif what in ("pause", "resume"):
                getattr(consumer, what)(at)
                (self.paused.add if what == "pause" else self.paused.discard)(at)

    async def end(self, what: Any) -> None:
        if what == "crash":
            self.crash()
            await moving(self.consumer.close(0.1))
            return
        if what == "leave":
            self.ask_to_commit()
        self.given_back = set(self.following) if self.schedule.way == "assign" else set()
        if await moving(self.consumer.__aexit__(Broken if what == "fail" else None)):
            self.check_left()

    async def finish(self) -> None:
        """Everything that is left."""
        self.consumer.decode = None
        self.consumer.resume(*self.consumer.assignment)
        self.paused.clear()
        self.ask()
        self.take_all(await self.consumer.poll(0.2))


async def moving(call: Any) -> Any:
    """Whether a commit or the end went through, and was not refused since the group had moved on."""
    try:
        await call
    except BrokerError as error:
        if error.code.name not in MOVED_ON:
            raise
        return False
    except KcliError as error:
        if not isinstance(error, ConnectError):
            raise
        return False
    return True


class Rival(AsyncProgram):
    """Another member, which only polls."""

    async def run(self) -> None:
        self.make()
        await self.consumer.subscribe(["t"])
        try:
            while True:
                self.ask()
                self.take_all(await self.consumer.poll(0.2, max_records=5))
                await asyncio.sleep(0.1)
        finally:
            self.ask_to_commit()
            await moving(self.consumer.close())


class WorkersProgram(AsyncProgram):
    """A worker for each partition."""

    ACTIONS = ("rest", "rest", "rest", "leave", "fail", "crash", "rival", "expel", "again")

    async def begin(self) -> None:
        self.make()
        self.failing = False
        self.workers = Workers(self.consumer, self.work, size=4, commit_interval=self.dice.choice([0.1, 0.5, 60.0]))
        self.running = asyncio.ensure_future(self.workers.run(["t"]))

    async def work(self, fetched: Any, stop: Any) -> None:
        at = TopicPartition(fetched.topic, fetched.partition)
        taken = [one.offset for each in fetched.batches for one in each]
        if at in self.following and not stop.is_set():
            self.take(at, taken, fetched.next_offset, hand=False)
        await asyncio.sleep(self.dice.choice([0, 0.02, 0.2]))
        if self.failing:
            raise Broken
        if at in self.following and not stop.is_set():
            self.book.done[at].update(taken)

    async def step(self) -> None:
        self.asked = self.now
        if self.running.done():
            self.running.result()
        what = self.choose()
        if what in ("rest", "take"):
            await asyncio.sleep(self.dice.choice([0.02, 0.1, 0.5]))
        elif what in ("leave", "fail", "crash"):
            await self.end(what)
            await self.schedule.again()
        else:
            await self.schedule.disturb(what)

    async def end(self, what: Any) -> None:
        self.given_back = set()
        if what == "crash":
            self.crash()
            self.running.cancel()
        elif what == "fail":
            self.failing = self.excused = True
            await asyncio.sleep(0.3)
            self.running.cancel()
        else:
            self.workers.stop()
        try:
            await self.running
        except (asyncio.CancelledError, Broken, KcliError) as error:
            self.schedule.note("ended by", repr(error))
            what = "fail" if what == "leave" else what
        if await moving(self.consumer.__aexit__(Broken if what == "fail" else None)) and what == "leave":
            self.check_left()

    async def finish(self) -> None:
        self.asked = self.now
        if self.running.done():
            self.running.result()
        await asyncio.sleep(0.2)


class SyncProgram(Steps):
    """A program in another thread, which stands still while the loop runs."""

    patience = None
    here = forked = False

    def run(self, work: Any) -> Any:
        """As LoopThread's; after its patience the program is interrupted, as by Ctrl-C."""

        async def bounded() -> Any:
            async with asyncio.timeout(self.patience):
                return await work

        return self.schedule.loop.run_until_complete(bounded())

    def begin(self) -> None:
        thread: Any = self
        self.sync = SyncConsumer(thread, self.make())
        self.sync.__enter__()
        self.sync.subscribe(["t"])

    def call(self, function: Any) -> Any:
        async def call() -> Any:
            return function()

        return self.run(call())

    def soon(self, function: Any) -> None:
        self.schedule.loop.call_soon(function)

    def take_some(self) -> None:
        polls = self.schedule.way == "sync poll" or (self.schedule.way == "sync mixed" and self.dice.random() < 0.4)
        for _ in range(1 if polls else self.dice.choice([1, 2, 5, 12])):
            self.ask()
            self.patience = PATIENCE
            try:
                if polls:
                    self.take_all(self.sync.poll(max_records=self.dice.choice([None, None, 1, 3])))
                else:
                    message = next(self.sync)
                    self.take(TopicPartition(message.topic, message.partition), [message.offset], message.offset + 1)
            except TimeoutError:
                self.schedule.note("interrupted")
                break
            finally:
                self.patience = None
            if self.schedule.way == "sync commit":
                self.commit(self.places())
            if self.dice.random() < 0.3:
                self.run(asyncio.sleep(self.dice.choice([0.05, 0.3, 2.0])))

    def commit(self, places: Any) -> None:
        try:
            if places != {}:
                self.sync.commit(places)
        except BrokerError as error:
            if error.code.name not in MOVED_ON:
                raise

    def step(self) -> None:
        what, at = self.choose(), self.dice.choice(TPS)
        if what == "take":
            self.take_some()
        elif what in ("rest", "still"):
            self.run(asyncio.sleep(self.dice.choice(RESTS) if what == "rest" else INTERVAL + 2))
        elif what == "commit":
            self.ask_to_commit()
            self.commit(None)
        elif what == "commit some":
            self.commit(self.places())
        elif what in ("leave", "fail", "crash"):
            self.end(what)
            self.schedule.main = type(self)(self.schedule, self.settings)
            self.schedule.main.begin()
        elif what in ("rival", "expel", "again"):
            self.run(self.schedule.disturb(what))
        elif at in self.following and at in self.sync.assignment:
            with contextlib.suppress(UsageError):  # it may be taken away just now
                self.move(what, at)

    def move(self, what: Any, at: Any) -> None:
        if what == "seek" and not self.excused:
            to = self.dice.randrange(self.schedule.logs[at].end + 1)
            self.sync.seek(at, to)
        elif what in ("pause", "resume"):
            getattr(self.sync, what)(at)
            (self.paused.add if what == "pause" else self.paused.discard)(at)

    def end(self, what: Any) -> None:
        self.given_back = set()
        if what == "crash":
            self.call(self.crash)
            self.run(moving(self.consumer.close(0.1)))
            return
        if what == "leave":
            self.ask_to_commit()
        try:
            self.sync.__exit__(Broken if what == "fail" else None, None, None)
        except BrokerError as error:
            if error.code.name not in MOVED_ON:
                raise
        else:
            self.check_left()

    def finish(self) -> None:
        with contextlib.suppress(UsageError):  # a partition may be taken away just now
            self.sync.resume(*self.sync.assignment)
        self.paused = set(self.consumer.paused)
        self.ask()
        self.take_all(self.sync.poll(0.2))


def way_of(seed: Any) -> Any:
    return WAYS[seed % len(WAYS)]


class Schedule:
    """One of them."""

    def __init__(self, seed: Any, way: Any = None) -> None:
        self.dice = random.Random(seed)
        self.way = way or way_of(seed)
        self.protocol = self.dice.choice(PROTOCOLS)
        self.logs = {at: log_of(self.dice) for at in TPS}
        self.loop = JumpingLoop()
        self.book = Book(self.logs, self.loop)
        kind: Any = Fake848 if self.protocol == "consumer" else FakeKafka
        self.group = kind({"t": len(TPS)})
        if self.protocol == "consumer":
            self.group.want(*range(len(TPS)))
            self.group.interval = 300
        self.settings = self.member(self.dice.choice([None, None, False]))
        self.until = float("inf")
        self.problems: list[str] = []
        self.trace: list[Any] = []
        self.main: Any = None
        self.rival: Any = None
        self.other: Any = None

    def member(self, auto_commit: Any) -> Any:
        settings = GroupSettings(
            group="g", rebalance_timeout=2.0, max_poll_interval=INTERVAL, auto_commit=auto_commit,
            auto_commit_interval=0.2,
        )  # fmt: skip
        if self.protocol == "consumer":
            return settings.replace(protocol="consumer")
        return settings.replace(session_timeout=60.0, heartbeat_interval=0.3, assignors=(self.protocol,))

    def note(self, *what: Any) -> None:
        self.trace.append((round(self.loop.time(), 3), *what))

    async def again(self) -> None:
        self.main = type(self.main)(self, self.settings)
        await self.main.begin()

    async def disturb(self, what: Any) -> None:
        if self.way == "assign":
            return
        if self.protocol == "consumer":
            self.group.want(*self.dice.sample(range(len(TPS)), self.dice.randrange(len(TPS) + 1)))
        elif what == "rival" and self.rival is None:
            self.other = Rival(self, self.member(None))
            self.rival = asyncio.ensure_future(self.other.run())
        elif what == "rival":
            await self.dismiss()
        elif what == "expel":
            self.main.expel()
        else:
            self.group.rebalance()

    async def dismiss(self) -> None:
        """The rival leaves, while the program stands still."""
        rival, self.rival = self.rival, None
        rival.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await rival

    # -- playing ----------------------------------------------------------------------------------------------------

    async def calm(self) -> None:
        if self.rival is not None:
            await self.dismiss()
        if self.protocol == "consumer":
            self.group.want(*range(len(TPS)))

    @property
    def left(self) -> Any:
        return {at.partition: rest for at in TPS if (rest := sorted({*self.book.records[at]} - self.book.done[at]))}

    def expire(self) -> None:
        """What a session timeout does: a member that crashed while it joined is nobody's."""
        if self.protocol != "consumer" and self.way != "assign":
            mine = [one.consumer for one in (self.main, self.other) if one is not None and one.consumer is not None]
            alive = {one.group_metadata().member_id for one in mine if not one._closed}
            for name in [one for one in self.group.members if one not in alive]:
                self.group.fence(name)
            self.group._maybe_complete()

    async def turn(self) -> None:
        """Time for what nobody asked for."""
        assert self.loop.time() < self.until, f"not done: {self.left}"
        self.expire()

    async def scene(self) -> None:
        kind = WorkersProgram if self.way == "workers" else AsyncProgram
        self.main = kind(self, self.settings)
        await self.main.begin()
        for _ in range(STEPS):
            await self.main.step()
            await self.turn()
        await self.calm()
        self.until = self.loop.time() + PEACE
        while self.left or len(self.main.following) < len(TPS):
            await self.turn()
            await self.main.finish()
        await self.main.end("leave")

    def play_sync(self) -> None:
        self.main = SyncProgram(self, self.settings)
        self.main.begin()
        for _ in range(STEPS):
            self.main.step()
            self.loop.run_until_complete(self.turn())
        self.loop.run_until_complete(self.calm())
        self.until = self.loop.time() + PEACE
        while self.left or len(self.main.following) < len(TPS):
            self.loop.run_until_complete(self.turn())
            self.main.finish()
        self.main.end("leave")

    def play(self) -> None:
        unseen: list[Any] = []
        self.loop.set_exception_handler(lambda _, context: unseen.append(context))
        try:
            if self.way.startswith("sync"):
                self.play_sync()
            else:
                self.loop.run_until_complete(self.scene())
        finally:
            if self.rival is not None:
                self.rival.cancel()
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            left = asyncio.all_tasks(self.loop)
            self.loop.run_until_complete(cancelled(left))
            self.loop.close()
        assert not unseen, unseen
        assert not self.problems, self.problems
        assert not self.left, f"not done: {self.left}"


def run(seed: Any, way: Any = None) -> Any:
    """Play one schedule; its `trace` says what happened. Raises with a note of the seed."""
    random.seed(seed)
    schedule = Schedule(seed, way)
    chance = random.Random(-seed - 1)
    try:
        with (
            patch("kcli.backoff.urandom", chance.randbytes),
            patch("kcli.consumer.group.states.urandom", chance.randbytes),
            patch("random.Random", lambda *_: chance),
        ):
            schedule.play()
    except BaseException as problem:
        problem.add_note(f"seed {seed}, {schedule.way}, {schedule.protocol}")
        problem.trace = schedule.trace  # type: ignore[attr-defined]
        raise
    return schedule


def failure_of(seed: Any) -> Any:
    try:
        run(seed)
    except Exception as problem:  # noqa: BLE001 - the seed is the news
        return seed, f"{type(problem).__name__}: {problem} ({'; '.join(problem.__notes__)})".partition("\n")[0]
    return None


if __name__ == "__main__":
    raise SystemExit(main(failure_of))  # type: ignore[no-untyped-call]
