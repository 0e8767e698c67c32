"""kcat -C: the partitions of one topic, each from where -o says."""

from __future__ import annotations

from kcli.cli.commands.cat.parsing.words import Fatal
from kcli.cli.commands.cat.reading import CatReading, words_of
from kcli.cli.commands.consume.sink import Sink
from kcli.consumer.stall import Stall
from kcli.errors import BrokerError, KcliError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.cat.parsing.line import CommandLine
    from kcli.cli.runtime.signals import Stop
    from kcli.client import Client
    from kcli.settings import ConsumerSettings

    Offsets = dict[TopicPartition, int]


async def consume(line: CommandLine, stop: Stop) -> int:
    """Print until told to stop. Raises Fatal."""
    from kcli.client import Client

    assert line.topic is not None
    settings = line.settings.consumer()
    sink = Sink(stop=stop)
    try:
        async with Client(line.settings.client(), registry=line.registry) as client:
            places = await stop.unless(_places(line, client))
            if places is None:
                return 0
            async with client.consumer(settings=settings) as consumer:
                reading = CatReading(line, client, consumer, sink)
                spans = await stop.unless(_spans(line, client, settings, places))
                if spans is None:
                    return 0
                starts, ends = spans
                consumer.assign(starts)
                reading.open = set(places)
                if line.to_end:
                    reading.ends = ends
                    consumer.stop_at(ends)
                for at in places:
                    if starts[at] >= ends[at]:
                        reading.at_end(at, ends[at])
                stall = Stall(consumer)
                while not reading.over and not stop.asked:
                    got = await stop.unless(consumer.poll(stall.step if line.to_end else None)) or []
                    stall.check(got)
                    for fetched in got:
                        await reading.take(fetched)
                    if consumer.finished:
                        reading.finish()
    finally:
        sink.close()
    return 0


async def _places(line: CommandLine, client: Client) -> list[TopicPartition]:
    """The partitions to read. Raises Fatal."""
    topic = line.topic
    assert topic is not None
    try:
        there = sorted(await client.cluster.partitions(topic))
    except BrokerError as problem:
        raise Fatal(f"Topic {topic} error: {words_of(problem)}") from None
    except KcliError as problem:
        raise Fatal(f"Failed to query metadata for topic {topic}: {problem}") from None
    if line.partition == -1:
        return [TopicPartition(topic, number) for number in there]
    if line.partition not in there:
        last = there[-1] if there else -1
        raise Fatal(f"Topic {topic} (with partitions 0..{last}): partition {line.partition} does not exist")
    return [TopicPartition(topic, line.partition)]


async def _spans(
    line: CommandLine, client: Client, settings: ConsumerSettings, places: list[TopicPartition]
) -> tuple[Offsets, Offsets]:
    """Where each begins and ends now. An offset that is not there goes where auto.offset.reset says. Raises Fatal."""
    from asyncio import gather

    start = line.start or Bound("earliest")
    if line.start_time:
        start = Bound("time", line.start_time)
    group = line.settings.properties.group.get("group")
    if start.kind == "stored" and not group:
        raise Fatal(f"Failed to start consuming topic {line.topic}: -o stored needs -X group.id")
    low, high, begin = await gather(
        *(offsets_of(client, settings, dict.fromkeys(places, bound)) for bound in (EARLIEST, LATEST, start))
    )
    if start.kind == "stored":
        begin = dict.fromkeys(places, -1) | await _committed(client, settings, str(group), places)
    logs = high
    if settings.isolation == "read_committed" and any(begin[at] > high[at] for at in places):  # or it is undecided
        uncommitted = settings.replace(isolation="read_uncommitted")
        logs = await offsets_of(client, uncommitted, dict.fromkeys(places, LATEST))
    for at in places:
        if not low[at] <= begin[at] <= logs[at]:
            if settings.reset == "none":
                raise Fatal(f"Topic {at.topic} [{at.partition}] error: no record at offset {begin[at]}")
            begin[at] = low[at] if settings.reset == "earliest" else high[at]
    return begin, high


EARLIEST, LATEST = Bound("earliest"), Bound("latest")


async def offsets_of(client: Client, settings: ConsumerSettings, bounds: dict[TopicPartition, Bound]) -> Offsets:
    from kcli.consumer.offsets import resolve

    found = await resolve(
        client.cluster, bounds, isolation=settings.isolation, reset="earliest", deadline=client.settings.deadline
    )
    made = {}
    for at, answer in found.items():
        if isinstance(answer, KcliError):
            raise Fatal(f"Topic {at.topic} [{at.partition}] error: {words_of(answer)}")
        made[at] = answer.offset
    return made


async def _committed(client: Client, settings: ConsumerSettings, group: str, places: list[TopicPartition]) -> Offsets:
    """A group's positions; nothing of partitions that have none."""
    from kcli.settings import GroupSettings

    async with client.consumer(settings=settings, group=GroupSettings(group=group, auto_commit=False)) as asking:
        found = await asking.committed(places)
    return {at: one.offset for at, one in found.items() if one is not None}
