"""Random interleavings of pause, resume, seek, rebalance, fetch, commit, leaving and closing, in groups of both
protocols and without one, each the same every time from its seed: on a clock that jumps, with the chance of the seed,
and whatever order this process walks its sets in.

The end of each: every owned, unpaused partition is in the next fetch, and read to its end. On the way: no record twice
or skipped within one generation, none of a partition that is not owned or paused, and nothing is committed that was
not handed out. `python -m tests.consumer.schedules FIRST COUNT` runs many.
"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import random
import sys
import time
from unittest.mock import patch

from kcli.consumer.consumer import Consumer
from kcli.errors import BrokerError
from kcli.model import TopicPartition
from kcli.proto.messages.offset_commit import OffsetCommitRequest
from kcli.settings import ConsumerSettings, GroupSettings
from tests.consumer.group.fake_848 import Fake848
from tests.consumer.group.fakes import FakeKafka
from tests.consumer.log import FakeBroker, FakeCluster, Log
from tests.producer.world import now, play

RECORDS = 60
STEPS = 60
TPS = [TopicPartition("t", n) for n in range(4)]
PROTOCOLS = ("none", "range", "cooperative-sticky", "consumer")
MOVED_ON = (
    "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "STALE_MEMBER_EPOCH", "FENCED_MEMBER_EPOCH",
)  # fmt: skip
EXPIRY = 600  # turns of at least 10 ms
PEACE = 60.0  # seconds, which jump, after which everything must be read by itself
ACTIONS = [
    "pause",
    "resume",
    "pause topic",
    "resume topic",
    "seek",
    "poll",
    "poll",
    "poll",
    "rest",
    "commit",
    "trouble",
    "others",
]


class LateBroker(FakeBroker):
    """Its answers take their time: what was asked for may be gone when they come (A3.15, E33)."""

    dice = random.Random(0)
    log = None  # the schedule's

    async def ask(self, request, **how):
        self.log.append((now(), self.node_id, request))
        answer = await super().ask(request, **how)
        for _ in range(self.dice.randrange(4)):
            await asyncio.sleep(0)
        if self.dice.random() < 0.2:
            await asyncio.sleep(self.dice.choice([0.01, 0.2, 1.0]))
        return answer


class World(FakeCluster):
    """One member's way to the logs, and to the group that all have in common."""

    def __init__(self, schedule):
        super().__init__(schedule.logs, brokers=2)
        self.group = group = schedule.group
        self.log = schedule.log
        for node in self.brokers:
            broker = self.brokers[node] = LateBroker(node, schedule.logs)
            broker.dice, broker.log = schedule.dice, schedule.log
        if group is not None:
            self.ids = {"t": group.topic_id("t")}

    async def coordinator(self, of):
        return Desk(self)

    def __getattr__(self, name):  # whatever is about groups
        return getattr(self.group, name)


class Desk:
    """The coordinator, as one member sees it: what it may commit, it reached since it owns it."""

    def __init__(self, world):
        self.world = world

    def __getattr__(self, name):
        return getattr(self.world.group, name)

    async def ask(self, request, **how):
        group = self.world.group
        self.world.log.append((now(), "coordinator", request))
        if isinstance(request, OffsetCommitRequest) and not group._judge(
            request.member_id, request.generation_id_or_member_epoch
        ):
            member = self.world.member
            for topic in request.topics:
                for one in topic.partitions:
                    own = member.own.get(TopicPartition("t", one.partition_index), ())
                    assert one.committed_offset in own, f"{one} is committed, reached were {own}"
        return await group.ask(request, **how)


class Member:
    """A consumer and the books of what must come next."""

    def __init__(self, schedule):
        self.schedule = schedule
        self.dice = schedule.dice
        self.world = World(schedule)
        settings = ConsumerSettings(fetch_max_wait=0.01, partition_max_bytes=600, retry_backoff=0.01)
        self.consumer = Consumer(self.world, settings, schedule.settings)
        self.following = {}
        self.own = {}  # reached since it was assigned: what may be committed, also in the callback that takes it away
        self.paused = set()
        self.topic_paused = False
        self.world.member = self

    async def begin(self):
        if self.schedule.group is None:
            self.assign()
            return

        async def assigned(partitions):
            for at in sorted(partitions):
                assert at not in self.following, "given twice"
                known = self.schedule.group.committed.get(at)
                self.following[at] = 0 if known is None else known.offset
                self.own[at] = {self.following[at]}
                if self.dice.random() < 0.1:
                    self.consumer.pause(at)
                    self.paused.add(at)

        async def gone(partitions):
            for at in sorted(partitions):
                del self.following[at]
                self.paused.discard(at)
            for _ in range(self.dice.randrange(3)):
                await asyncio.sleep(0)

        await self.consumer.subscribe(["t"], on_assigned=assigned, on_revoked=gone, on_lost=gone)

    def assign(self):
        owned = {one: self.dice.randrange(RECORDS) for one in self.dice.sample(TPS, self.dice.randrange(1, 5))}
        if self.dice.random() < 0.5:
            self.following = owned
            self.paused.clear()
            self.consumer.assign(owned)
        else:
            self.consumer.incremental_assign(owned)
            self.following = owned | self.following
        self.own = {at: self.own.get(at, set()) for at in self.following}

    async def step(self):
        what = self.dice.choice(ACTIONS)
        at = self.dice.choice(TPS)
        self.schedule.log.append((now(), what, at))
        if what == "rest":
            await asyncio.sleep(self.dice.choice([0, 0, 0.05, 0.3]))
        elif what == "poll":
            self.take(await self.consumer.poll(self.dice.choice([0, 0, 0.02, 0.2])))
        elif what.endswith("topic"):
            getattr(self.consumer, what.partition(" ")[0])("t")
            self.topic_paused = what == "pause topic"
        elif what == "commit":
            await self.commit()
        elif what == "produce":
            self.schedule.produce(at)
        elif what == "trouble":
            if self.dice.random() < 0.5:
                self.world.leader_moved(at)
            else:
                self.schedule.logs[at].errors.append(self.dice.choice([6, 9]))  # NOT_LEADER, REPLICA_NOT_AVAILABLE
        elif what == "others":  # a producer on the same cluster looks up the leaders, and we are not told
            asyncio.get_running_loop().call_later(self.dice.choice([0, 0.02, 0.1]), self.world.forgotten.clear)
        elif at in self.consumer.assignment and at in self.following:
            if what == "seek":
                self.following[at] = self.dice.randrange(RECORDS)
                self.consumer.seek(at, self.following[at])
                self.own[at].add(self.following[at])  # where it sought to is committed
                self.schedule.reached[at].add(self.following[at])
            else:
                getattr(self.consumer, what)(at)
                (self.paused.add if what == "pause" else self.paused.discard)(at)

    async def commit(self):
        if self.schedule.group is None:
            return
        try:
            await self.consumer.commit()
        except BrokerError as error:
            if error.code.name not in MOVED_ON:
                raise

    async def close(self):
        """Who was thrown out is told that its last commit was not made."""
        try:
            await self.consumer.close()
        except BrokerError as error:
            if error.code.name not in MOVED_ON:
                raise

    def take(self, got):
        for fetched in got:
            at = TopicPartition(fetched.topic, fetched.partition)
            self.schedule.log.append((now(), "read", at, fetched.next_offset))
            assert fetched.error is None
            assert at in self.consumer.assignment, "of a partition that is not owned"
            assert at not in self.paused, "of a paused partition"
            assert not self.topic_paused, "of a paused topic"
            for one in fetched.batches:
                for record in one:
                    assert record.offset == self.following[at], "a record twice or skipped"
                    self.following[at] += 1
            assert fetched.next_offset == self.following[at]
            assert self.consumer.position(at) == fetched.next_offset
            self.own[at].add(fetched.next_offset)
            self.schedule.reached[at].add(fetched.next_offset)

    @property
    def wanted(self):
        """What is to be read."""
        return set() if self.topic_paused else self.consumer.assignment - self.paused

    @property
    def left(self):
        """What is to be read and was not."""
        return [at for at in self.wanted if self.following.get(at, 0) < self.schedule.logs[at].end]

    @property
    def uncommitted(self):
        """What was handed out a while ago, and is not committed although that is automatic."""
        if self.schedule.group is None or not self.schedule.settings.auto_commit:
            return []
        committed = self.schedule.group.committed
        return [
            at
            for at in self.wanted
            if len(self.own[at]) > 1 and (at not in committed or committed[at].offset != self.following[at])
        ]

    @property
    def fetched(self):
        """What is in the next fetch: the brokers hold it in their sessions."""
        held = [broker.sessions.get(7, {}) for broker in self.world.brokers.values()]
        return {TopicPartition(*key) for session in held for key in session}


class Schedule:
    """One of them."""

    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.protocol = self.dice.choice(PROTOCOLS)
        self.logs = {at: Log().fill(RECORDS) for at in TPS}
        self.reached = {at: {0} for at in TPS}
        self.group = {"none": lambda: None, "consumer": Fake848}.get(self.protocol, FakeKafka)()
        self.settings = None
        if self.group is not None:
            classic = self.protocol != "consumer"
            self.settings = GroupSettings(
                group="g", protocol="classic" if classic else "consumer", rebalance_timeout=2.0,
                auto_commit=self.dice.random() < 0.7, auto_commit_interval=0.3,
            )  # fmt: skip
            if classic:
                self.settings = self.settings.replace(
                    session_timeout=6.0, heartbeat_interval=0.1, assignors=(self.protocol,)
                )
        self.members = []
        self.log = []  # what happened and when: every request, every step, what was read

    @property
    def trace(self):
        """All of it in words, for comparing two runs."""
        return [repr(one) for one in self.log]

    async def scene(self):
        self.members = [Member(self)]
        await self.members[0].begin()
        try:
            for _ in range(STEPS):
                if self.dice.random() < 0.12:
                    await self.rebalance()
                await self.dice.choice(self.members).step()
                self.check_commits()
            await self.peace()
        finally:
            for member in self.members:
                await member.close()
        self.check_commits()

    async def rebalance(self):
        """A new assignment: by hand, by another target, by who comes, goes or is thrown out."""
        member = self.dice.choice(self.members)
        if self.group is None:
            member.assign()
        elif self.protocol == "consumer":
            self.group.want(*self.dice.sample(range(4), self.dice.randrange(5)))
        else:
            what = self.dice.choice(["join", "leave", "expel", "again"])
            if what == "join" and len(self.members) < 3:
                self.members.append(Member(self))
                await self.members[-1].begin()
            elif what == "leave" and len(self.members) > 1:
                self.members.remove(member)
                closing = asyncio.ensure_future(member.close())
                while not closing.done():
                    await self.turn()
                await closing
            elif what == "expel" and self.group.members:
                self.group.fence(self.dice.choice(list(self.group.members)))
                self.group._maybe_complete()
            else:
                self.group.rebalance()

    def produce(self, at):
        self.logs[at].fill(10)
        for member in self.members:
            for broker in member.world.brokers.values():
                broker.more.set()

    async def turn(self):
        """Everybody asks for records once."""
        for member in self.members:
            member.take(await member.consumer.poll(0))
        await asyncio.sleep(0.01)

    async def peace(self):
        """Nothing more happens: all that is owned and not paused is read, and asked for."""
        for log in self.logs.values():
            log.errors.clear()
        if self.protocol == "consumer" and self.dice.random() < 0.5:
            self.group.want(0, 1, 2, 3)
        for member in self.members:
            if self.dice.random() < 0.5:
                member.consumer.resume("t", *sorted(member.consumer.assignment))
                member.paused.clear()
                member.topic_paused = False
        try:
            async with asyncio.timeout(PEACE):
                for turn in itertools.count(1):
                    if self.settled():
                        return
                    await self.turn()
                    self.check_commits()
                    if turn % EXPIRY == 0:
                        self.expire()
        except TimeoutError:
            raise AssertionError(
                f"{self.protocol}: {[(one.left, one.uncommitted, one.fetched) for one in self.members]}"
            ) from None

    def expire(self):
        """What a session timeout does: a member that was given up while it joined is nobody's."""
        if isinstance(self.group, FakeKafka) and self.protocol != "consumer":
            alive = {member.consumer.group_metadata().member_id for member in self.members}
            for name in [one for one in self.group.members if one not in alive]:
                self.group.fence(name)
            self.group._maybe_complete()

    def settled(self):
        for member in self.members:
            if member.left or member.uncommitted or not member.wanted <= member.fetched:
                return False
        if self.group is None:
            return True
        owned = [at for member in self.members for at in member.consumer.assignment]
        whole = len(self.group.target) if self.protocol == "consumer" else len(TPS)
        return len(owned) == len(set(owned)) == whole

    def check_commits(self):
        if self.group is not None:
            for at, place in self.group.committed.items():
                assert place.offset in self.reached[at], f"{at} was committed at {place.offset}, which nobody reached"


def run(seed):
    """Play one schedule; its `trace` says what happened. Raises with a note of the seed."""
    random.seed(seed)
    schedule = Schedule(seed)
    chance = random.Random(-seed - 1)
    try:
        with (
            patch("kcli.backoff.urandom", chance.randbytes),
            patch("kcli.consumer.group.states.urandom", chance.randbytes),
            patch("random.Random", lambda *_: chance),
        ):
            play(schedule.scene())
    except BaseException as problem:
        problem.add_note(f"seed {seed}, {schedule.protocol}")
        raise
    return schedule


def failure_of(seed):
    try:
        run(seed)
    except Exception as problem:  # noqa: BLE001 - the seed is the news
        return seed, f"{type(problem).__name__}: {problem}".partition("\n")[0]
    return None


def main(failure_of=failure_of):
    """Play as many schedules as the command line says, in two processes."""
    first, count = int(sys.argv[1]), int(sys.argv[2])
    begin, failures = time.monotonic(), []
    with multiprocessing.Pool(2) as pool:
        for done, failure in enumerate(pool.imap_unordered(failure_of, range(first, first + count), 20), 1):
            if failure is not None:
                failures.append(failure)
                print(f"seed {failure[0]}: {failure[1]}", flush=True)
            if done % 1000 == 0:
                print(f"{done} schedules, {time.monotonic() - begin:.0f} s, {len(failures)} failed", flush=True)
    print(f"{count} schedules from seed {first} in {time.monotonic() - begin:.0f} s: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
