"""Situations of groups on a real Kafka: topics, commits and members are made, then every output looks at all groups at
once, and Kafka's own tools do.

Names of topics and groups have a prefix of their own; it is taken off what is printed.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from kcli.admin.groups.commits import write_commits
from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics
from kcli.asking.coordinators import Coordinators
from kcli.cli.commands.groups.why import WhyRow
from kcli.cli.commands.lag.measured import GroupRow
from kcli.cli.commands.lag.rows import GroupOverTimeRow
from kcli.client import Client
from kcli.consumer.consumer import Consumer
from kcli.consumer.share.settings import ShareSettings
from kcli.errors import KcliError
from kcli.lag.assertion import LagAssertion
from kcli.lag.formats import past
from kcli.lag.formats.past import Past
from kcli.lag.formats.sentences import reason
from kcli.lag.snapshot import take
from kcli.lag.watch import LagSnapshot
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings, parse_bootstrap
from kcli.tui.app import Dashboard
from kcli.tui.session import LiveSession
from tests.kafka.admin.test_streams_groups import StreamsMember
from tests.kafka.cluster import CLUSTER_ID, Kafka
from tests.lag.outputs import MOST, Outputs
from tests.programs import KCLI, Background, run, until

if TYPE_CHECKING:
    from kcli.lag.history import Standstills

GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
SHARES = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
STREAMS = "org.apache.kafka.tools.streams.StreamsGroupCommand"
EVERY = 0.25  # seconds between two commits of a group that moves
WATCHED = 6.0  # seconds
LOOKS = 10  # that a trend takes, with some to spare
PRESENT = 60.0  # seconds until every member has its partitions

Commits = dict[str, list[int | None]]
NONE: Commits = {}
Figures = tuple[str, ...]  # committed (or the start of a share group), end, lag


class Reads(NamedTuple):
    """A member: what it subscribes to, as names or as one pattern. `protocol` is classic, consumer (KIP-848), share or
    streams. `instance`: a static member, which goes without leaving when `away`; one that is `gone` left. `takes` is
    how many records a member of a share group acknowledges."""

    topics: str
    protocol: str = "classic"
    pattern: bool = False
    instance: str | None = None
    away: bool = False
    gone: bool = False
    takes: int = 0


class Case(NamedTuple):
    """A group, and what the outputs have to say of it; "…" in a sentence stands for what differs each time. `once` is
    the status of a single look, `command` the remedy, `stood` the offsets at which it stood still before the watch.
    While it is watched, `pace` offsets of the first partition are written and committed every EVERY seconds."""

    status: str
    lag: int | None
    sentence: str
    command: str = ""
    commits: Commits = NONE
    members: tuple[Reads, ...] = ()
    once: str = ""
    holds: bool = True
    pace: tuple[int, int] = (0, 0)
    eta: bool | None = False
    stood: Commits = NONE
    owns: int | None = None
    starts: str = ""


class Look(NamedTuple):
    """What was seen of all groups: the outputs by group, the rows of partitions, and those of Kafka's own tools."""

    outputs: dict[str, Outputs]
    rows: dict[tuple[str, str, int], dict[str, Any]]
    theirs: dict[tuple[str, str, int], Figures]
    table: dict[str, dict[str, str]]


class Scene:
    """Topics, commits and members of a client. `prefix` begins every name."""

    def __init__(self, client: Client, stack: AsyncExitStack, prefix: str) -> None:
        self.client, self._stack, self.prefix = client, stack, prefix
        self.consumers: dict[str, list[Consumer]] = {}

    def at(self, topic: str, partition: int = 0) -> TopicPartition:
        return TopicPartition(self.prefix + topic, partition)

    async def create(
        self, topics: dict[str, int], configs: dict[str, str] | None = None, *, replicas: int = -1
    ) -> None:
        """Create topics, each with its number of partitions."""
        new = [
            NewTopic(topic=self.prefix + name, partitions=n, replication_factor=replicas, configs=configs or {})
            for name, n in topics.items()
        ]
        made = await create_topics(self.client.cluster, new)
        assert not [one for one in made.values() if isinstance(one, KcliError)], made
        await wait_for_topics(self.client.cluster, [one.topic for one in new])

    async def write(self, topic: str, counts: Sequence[int], *, age: float = 600.0, value: bytes | None = b"v") -> None:
        """Write `counts[n]` records into partition n, each `age` seconds old and with one of five keys."""
        written = ago(age)
        async with self.client.producer(ProducerSettings()) as producer:
            for partition, count in enumerate(counts):
                rows = [(partition, written, b"k%d" % (n % 5), value, ()) for n in range(count)]
                await producer.send_records(self.prefix + topic, rows)
            await producer.flush()

    async def write_transaction(self, topic: str, count: int, *, aborts: bool = False) -> None:
        """Write `count` records in one transaction."""
        async with self.client.producer(ProducerSettings(transactional_id=self.prefix + topic)) as producer:
            await producer.begin()
            await producer.send_records(self.prefix + topic, [(0, ago(600.0), None, b"v", ())] * count)
            await producer.flush()
            await (producer.abort() if aborts else producer.commit())

    async def commit(self, group: str, commits: Commits) -> None:
        """Commit for a group without members."""
        wanted = {
            self.at(topic, n): OffsetAndMetadata(offset=offset)
            for topic, offsets in commits.items()
            for n, offset in enumerate(offsets)
            if offset is not None
        }
        done = await write_commits(Coordinators(self.client.cluster), self.prefix + group, wanted)
        assert set(done.values()) <= {True}, done

    async def join(self, group: str, reads: Reads) -> None:
        """Have a member in a group. It commits nothing by itself."""
        names = [self.prefix + name for name in reads.topics.split()]
        if reads.protocol == "streams":
            member = StreamsMember(self.client, self.prefix + group, *names)
            await member.join()
            beating = asyncio.create_task(self._beat(member))
            self._stack.push_async_callback(self._leave, member, beating)
        elif reads.protocol == "share":
            share = ShareSettings(group=self.prefix + group, exact=True, explicit=False)
            taker = self.client.share_consumer(ConsumerSettings(), share)
            await self._stack.enter_async_context(taker)
            await taker.subscribe(names)
            left = reads.takes
            while left > 0:
                left -= sum(one.last - one.first + 1 for one in await taker.poll(1.0, left))
            if reads.takes:
                await taker.commit()
            if reads.gone:
                await taker.close()
        else:
            await self._read(group, reads, names)

    async def _beat(self, member: StreamsMember) -> None:
        """Keep the member in its group, however long the scene takes on a busy machine."""
        while True:
            await asyncio.sleep(5.0)
            await member.beat(member.epoch)

    async def _leave(self, member: StreamsMember, beating: asyncio.Task[None]) -> None:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
        await member.beat(-1)

    async def _read(self, group: str, reads: Reads, names: list[str]) -> None:
        static: dict[str, Any] = {"instance_id": reads.instance, "session_timeout": 300.0} if reads.instance else {}
        settings = GroupSettings(group=self.prefix + group, protocol=reads.protocol, auto_commit=False, **static)
        consumer = self.client.consumer(group=settings)
        await self._stack.enter_async_context(consumer)
        await consumer.subscribe(self.prefix + reads.topics if reads.pattern else names)
        if reads.away or reads.gone:
            async with asyncio.timeout(PRESENT):
                while not consumer.assignment:
                    await consumer.poll(0.1)
            await consumer.close()
            return
        self.consumers.setdefault(group, []).append(consumer)

    async def present(self, owns: dict[str, int], members: dict[str, int]) -> None:
        """Wait until each group owns its number of partitions."""
        polling = asyncio.create_task(self._poll())
        try:
            async with asyncio.timeout(PRESENT):
                while True:
                    shot = await take(self.client.cluster, [self.prefix + name for name in owns])
                    there = {
                        one.described.group[len(self.prefix) :]: (
                            sum(len(member.assignment) for member in one.described.members),
                            len(one.described.members),
                        )
                        for one in shot.groups
                        if one.described.owners_known
                    }
                    if there == {name: (count, members[name]) for name, count in owns.items()}:
                        return
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise AssertionError(f"{there} instead of {owns} {members}") from None
        finally:
            polling.cancel()
            await asyncio.gather(polling, return_exceptions=True)

    async def _poll(self) -> None:
        while True:
            await asyncio.gather(*(one.poll(0.1) for some in self.consumers.values() for one in some))


def ago(seconds: float) -> int:
    """The timestamp of `seconds` ago, in ms."""
    return round((time.time() - seconds) * 1000)


@asynccontextmanager
async def scene(kafka: Kafka, prefix: str) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(kafka.bootstrap))
        yield Scene(client, stack, prefix)


class Moving:
    """`async with Moving(…)`: groups move while everybody looks."""

    def __init__(self, stage: Scene, cases: dict[str, Case], ends: dict[str, int]) -> None:
        self._stage = stage
        self._cases = {name: case for name, case in cases.items() if any(case.pace)}
        self._ends = {name: ends[self._topic(name)] for name in self._cases}
        self._done = {name: self._cases[name].commits[self._topic(name)][0] or 0 for name in self._cases}
        self._stop = asyncio.Event()

    def _topic(self, name: str) -> str:
        return next(iter(self._cases[name].commits))

    async def __aenter__(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def __aexit__(self, *_: object) -> None:
        self._stop.set()
        await self._task

    async def _run(self) -> None:
        async with self._stage.client.producer(ProducerSettings()) as producer:
            while not self._stop.is_set():
                await asyncio.gather(*(self._step(name, producer) for name in self._cases), asyncio.sleep(EVERY))

    async def _step(self, name: str, producer: Any) -> None:
        case, topic = self._cases[name], self._topic(name)
        more, done = case.pace
        await producer.send_records(self._stage.prefix + topic, [(0, None, None, b"v", ())] * more)
        await producer.flush()
        self._ends[name] += more
        self._done[name] = min(self._done[name] + done, self._ends[name])
        if case.members:
            await self._stage.consumers[name][0].commit({self._stage.at(topic): self._done[name]})
        else:
            await self._stage.commit(name, {topic: [self._done[name]]})


# -- what everybody sees -----------------------------------------------------------------------------------------------


async def look(kafka: Kafka, stage: Scene, cases: dict[str, Case], moving: Moving, folder: Path, code: int = 0) -> Look:
    """Every output, while groups move; then the table and Kafka's tools, while none does. `code` is the exit code of
    commands that cannot read everything."""
    prefix = stage.prefix
    pattern = f"{prefix}*"
    homes = {name: _home(folder / name, prefix, cases) for name in ("watch", "why", "prometheus", "dashboard")}
    async with moving:
        watch, why, page, board = await asyncio.gather(
            _watched(kafka, pattern, homes["watch"], code),
            _kcli(kafka, pattern, "groups", "why", pattern, "--over", f"{LOOKS}s", home=homes["why"], code=code),
            _scraped(kafka, pattern, homes["prometheus"], folder),
            _dashboard(kafka, homes["dashboard"]),
        )
    return await asyncio.to_thread(_side_by_side, kafka, prefix, watch, why, page, board, code)


def _side_by_side(
    kafka: Kafka, prefix: str, watch: dict[str, Any], why: dict[str, Any], page: str, board: LagSnapshot, code: int
) -> Look:
    pattern = f"{prefix}*"

    def once(*words: str, codes: tuple[int, ...] = (code,)) -> str:
        shown = run([*KCLI, "lag", pattern, *words, "-b", kafka.bootstrap])
        assert shown.code in codes, shown
        return shown.out.decode().replace(prefix, "")

    table = json.loads(once("--by", "partition", "-J"))
    heads, *drawn = [re.split(r"\s{2,}", line.strip()) for line in once("--by", "group").splitlines() if line]
    broken = json.loads(once("--max-lag", str(MOST), "--by", "group", "-J", codes=(3, code)))["errors"]
    found = {}
    standings = [standing for standing in board.groups if standing.described.group.startswith(prefix)]
    breaches = LagAssertion(MOST, None).broken(LagSnapshot(groups=standings))
    for standing in standings:
        name = standing.described.group
        short = name[len(prefix) :]
        found[short] = Outputs(
            table=_row(GroupRow, table["groups"], short),
            why=_row(WhyRow, why["groups"], short),
            watch=_row(GroupOverTimeRow, watch["groups"], short),
            dashboard=standing,
            sentence=reason(standing, board).replace(prefix, ""),
            prometheus=page.replace(prefix, ""),
            broken=[one.text.replace(prefix, "") for one in breaches if one.group == name],
            broken_once=[row["message"] for row in broken if row["about"] == short],
        )
        standing.described.group = short
    return Look(
        outputs=found,
        rows={(row["group"], row["topic"], row["partition"]): row for row in table["partitions"]},
        theirs={} if code else _theirs(kafka, prefix),
        table={row[0]: dict(zip(heads, row, strict=True)) for row in drawn},
    )


def _row(kind: Any, rows: list[dict[str, Any]], group: str) -> Any:
    (row,) = [row for row in rows if row["group"] == group]
    return kind(**row)


def _home(folder: Path, prefix: str, cases: dict[str, Case]) -> dict[str, str]:
    """An environment in which a watch has seen what stood still before."""
    before = time.time() - 2400
    stood: Standstills = {
        prefix + name: {
            TopicPartition(prefix + topic, n): (offset, before, False, ())
            for topic, offsets in case.stood.items()
            for n, offset in enumerate(offsets)
            if offset is not None
        }
        for name, case in cases.items()
        if case.stood
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        path = Path(Past(CLUSTER_ID).path)
    path.parent.mkdir(parents=True)
    past.write_standstills(f"{path}.still", stood)
    return {"XDG_STATE_HOME": str(folder)}


async def _kcli(kafka: Kafka, pattern: str, *words: str, home: dict[str, str], code: int) -> dict[str, Any]:
    """The last document that a command prints."""
    done = await asyncio.to_thread(run, [*KCLI, *words, "-J", "-b", kafka.bootstrap], env=home, timeout=150)
    assert done.code == code, done
    *_, last = _documents(done.out.decode().replace(pattern[:-1], ""))
    return last


def _documents(text: str) -> Iterator[dict[str, Any]]:
    """One after another, be they on a line each or on many."""
    decoder = json.JSONDecoder()
    while text := text.strip():
        document, end = decoder.raw_decode(text)
        yield document
        text = text[end:]


async def _watched(kafka: Kafka, pattern: str, home: dict[str, str], code: int) -> dict[str, Any]:
    times = round(WATCHED / 0.5) + 1
    words = ("lag", pattern, "--by", "group", "--watch", "--refreshes", str(times), "--interval", "500ms", "-q")
    return await _kcli(kafka, pattern, *words, home=home, code=code)


async def _scraped(kafka: Kafka, pattern: str, home: dict[str, str], folder: Path) -> str:
    """The page of metrics after some looks."""

    def serve() -> str:
        words = ["lag", pattern, "--prometheus", "127.0.0.1:0", "--interval", "500ms", "-b", kafka.bootstrap]
        environment = [f"{name}={value}" for name, value in home.items()]
        with Background(["env", *environment, *KCLI, *words], stdout=folder / "metrics") as running:
            until(lambda: "metrics at " in running.err, said=lambda: running.err)
            (url,) = re.findall(r"metrics at (\S+)", running.err)
            ends, text = time.monotonic() + WATCHED, ""
            times: set[str] = set()
            while time.monotonic() < ends or len(times) < LOOKS:
                time.sleep(0.2)
                try:
                    with urlopen(url, timeout=10) as page:
                        text = page.read().decode()
                except HTTPError as early:  # before the first refresh
                    early.close()
                times |= set(re.findall(r"^kcli_lag_look_timestamp_seconds (\S+)", text, re.M))
            assert running.stop() == 0, running.err
            return text

    return await asyncio.to_thread(serve)


async def _dashboard(kafka: Kafka, home: dict[str, str]) -> LagSnapshot:
    """What the dashboard shows after some looks."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in home.items():
            patch.setenv(name, value)
        settings = ClientSettings(bootstrap=parse_bootstrap(kafka.bootstrap))
        app = Dashboard(LiveSession(settings, interval=0.5, remembers=True))
        async with app.run_test(size=(160, 50)) as pilot:
            ends = time.monotonic() + WATCHED
            times: set[float] = set()
            while time.monotonic() < ends or len(times) < LOOKS:
                await pilot.pause(0.1)
                times |= {app.state.snapshot.time} if app.state.snapshot is not None else set()
            assert app.state.snapshot is not None
            return app.state.snapshot


# -- Kafka's own tools -------------------------------------------------------------------------------------------------


def _theirs(kafka: Kafka, prefix: str) -> dict[tuple[str, str, int], Figures]:
    """(group, topic, partition) to the figures that Kafka's tools print; "" for those that they do not."""
    found: dict[tuple[str, str, int], Figures] = {}
    for tool, *columns in (
        (GROUPS, "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"), (SHARES, "START-OFFSET", "", "LAG"),
        (STREAMS, "", "", "OFFSET-LAG"),
    ):  # fmt: skip
        text = kafka.tool(tool, "--bootstrap-server", kafka.bootstrap, "--describe", "--all-groups", timeout=120)
        heads: list[str] = []
        for words in map(str.split, text.splitlines()):
            if words[:1] == ["GROUP"]:
                heads = words
            elif words and words[0].startswith(prefix) and len(words) >= len(heads):
                row = dict(zip(heads, words, strict=False))
                if row["TOPIC"] != "-":
                    at = row["GROUP"][len(prefix) :], row["TOPIC"][len(prefix) :], int(row["PARTITION"])
                    found[at] = tuple(row.get(name, "") for name in columns)
    return found
