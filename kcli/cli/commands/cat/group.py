"""kcat -G: topics as a member of a group; what was printed is committed, at the end too."""

from __future__ import annotations

import asyncio

from kcli.cli.commands.cat.parsing.words import Fatal, say
from kcli.cli.commands.cat.reading import CatReading, words_of
from kcli.cli.commands.consume.sink import Sink
from kcli.consumer.stall import Stall
from kcli.errors import BrokerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.cat.parsing.line import CommandLine
    from kcli.cli.commands.consume.commits import Commits
    from kcli.cli.runtime.signals import Stop
    from kcli.client import Client
    from kcli.consumer.consumer import Consumer
    from kcli.grammar.bound import Bound
    from kcli.model import TopicPartition

LOOK_UP = 0.2  # seconds: how often a member that waits looks what became of its partitions


async def join(line: CommandLine, stop: Stop) -> int:
    """Print as a member until told to stop. Raises Fatal."""
    from kcli.cli.commands.consume.commits import Commits
    from kcli.client import Client

    if not line.words:
        raise Fatal("Failed to subscribe to 0 topics: name topics after -G GROUP")
    sink = Sink(stop=stop)
    try:
        async with Client(line.settings.client(), registry=line.registry) as client:
            await stop.unless(_all_there(line, client))
            if stop.asked:
                return 0
            async with client.consumer(settings=line.settings.consumer(), group=line.settings.group()) as consumer:
                commits = Commits(consumer)
                reading = CatReading(line, client, consumer, sink, commits)
                member = Member(line, client, reading)
                say(line.verbosity, 1, "Waiting for group rebalance")
                try:
                    if await stop.unless(_subscribe(line, consumer, member)):
                        await _read(member, commits, stop)
                finally:
                    await commits.last()
    finally:
        sink.close()
    return 0


async def _read(member: Member, commits: Commits, stop: Stop) -> None:
    reading, consumer = member.reading, member.reading.consumer
    stall = Stall(consumer)
    while not reading.over and not stop.asked:
        got = await stop.unless(consumer.poll(LOOK_UP)) or []
        stall.check(got)
        for fetched in got:
            await reading.take(fetched)
        if consumer.finished:
            member.ended()
            if not reading.over:  # other members have all partitions: a poll would return at once, again and again
                await stop.unless(asyncio.sleep(LOOK_UP))
        await commits.in_time()


class Member:
    """What a rebalance means here."""

    def __init__(self, line: CommandLine, client: Client, reading: CatReading) -> None:
        self.line = line
        self.client = client
        self.reading = reading

    async def assigned(self, partitions: set[TopicPartition]) -> None:
        """-o goes before what was committed; with -e the ends are looked up."""
        reading = self.reading
        self._say("assigned", partitions)
        assert reading.commits is not None
        await reading.commits.lost(partitions)
        reading.open |= partitions
        if not partitions:
            return
        if self.line.start is not None and self.line.start.kind != "stored":
            starts = await self._offsets(partitions, self.line.start)
            for at, offset in starts.items():
                reading.consumer.seek(at, offset)
        if self.line.to_end:
            from kcli.grammar.bound import Bound

            ends = await self._offsets(partitions, Bound("latest"))
            reading.ends.update(ends)
            reading.consumer.stop_at(ends)
            await self._empty(ends)

    async def _empty(self, ends: dict[TopicPartition, int]) -> None:
        """Partitions that begin at their end are done at once."""
        reading, settings = self.reading, self.line.settings.consumer()
        committed = await reading.consumer.committed(list(ends))
        for at, end in ends.items():
            found, given = committed.get(at), self.line.start
            if given is not None and given.kind != "stored":
                position = reading.consumer.position(at)
            elif found is not None:
                position = found.offset
            else:
                position = end if settings.reset == "latest" else None
            if position is not None and position >= end:
                reading.at_end(at, end)
            elif end == 0:
                reading.at_end(at, 0)

    def ended(self) -> None:
        """Close what was read to its end without a record to say so: the log was emptied, or ends in markers. Nothing
        is left to read where the last partition that was not at its end went to another member."""
        for at in sorted(self.reading.open & self.reading.ends.keys()):
            self.reading.at_end(at, self.reading.ends[at])
        self.reading.over = self.reading.over or bool(self.reading.consumer.assignment)

    async def revoked(self, partitions: set[TopicPartition]) -> None:
        """Commit, and read them no more."""
        self._say("revoked", partitions)
        assert self.reading.commits is not None
        await self.reading.commits.revoked(partitions)
        self.reading.open -= partitions

    async def lost(self, partitions: set[TopicPartition]) -> None:
        """Others have them."""
        self._say("lost", partitions)
        assert self.reading.commits is not None
        await self.reading.commits.lost(partitions)
        self.reading.open -= partitions

    async def _offsets(self, partitions: set[TopicPartition], bound: Bound) -> dict[TopicPartition, int]:
        from kcli.cli.commands.cat.consume import offsets_of

        return await offsets_of(self.client, self.line.settings.consumer(), dict.fromkeys(partitions, bound))

    def _say(self, what: str, partitions: set[TopicPartition]) -> None:
        if self.line.verbosity:
            names = ", ".join(f"{at.topic} [{at.partition}]" for at in sorted(partitions))
            member = self.reading.consumer.group_metadata().member_id
            say(1, 1, f"Group {self.line.group} rebalanced (memberid {member}): {what}: {names}")


async def _all_there(line: CommandLine, client: Client) -> None:
    """A topic that was named and cannot be read ends the run before it joins, with -E too; a pattern may match later.
    Raises Fatal."""
    for name in line.words:
        if name.startswith("^"):
            continue
        try:
            await client.cluster.partitions(name)
        except BrokerError as problem:
            words = f"Subscribed topic not available: {name}: {words_of(problem)}"
            raise Fatal(f"Topic {name} [0] error: {words}") from None


async def _subscribe(line: CommandLine, consumer: Consumer, member: Member) -> bool:
    names: list[str] | str = [word for word in line.words if not word.startswith("^")]
    if len(names) < len(line.words):
        from kcli.cli.runtime.topic_pattern import TopicPattern

        pattern = TopicPattern([word for word in line.words if word.startswith("^")], list(names))
        pattern.check()
        names = pattern.text
    await consumer.subscribe(names, on_assigned=member.assigned, on_revoked=member.revoked, on_lost=member.lost)
    return True
