"""Situations of groups on a real Kafka: the seven outputs side by side, and beside what Kafka's own tools print."""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from kcli.admin.configs import SET, Operation, Resource, alter_configs
from kcli.admin.topics.delete_records import delete_records, grow_topics
from kcli.admin.topics.topics import delete_topics, wait_for_topics
from kcli.cli.output.hints import worded
from kcli.client import Client
from kcli.lag.history import History
from kcli.lag.watch import Watch
from kcli.model import Group
from kcli.producer.producer import Producer
from kcli.settings import ProducerSettings
from tests.kafka.cluster import Kafka
from tests.kafka.group.situations import Case, Look, Moving, Reads, Scene, ago, look, scene
from tests.lag.outputs import Outputs, agree, metric, outputs

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]  # the first test plays all situations in half a minute
HOUR, DAY = 3600.0, 86_400.0
TOPICS = {
    "orders": [100, 50, 0],
    "one": [10],
    "two": [10],
    "three": [10],
    "empty": [0, 0],
    "trimmed": [100],
    "emptied": [100],
    "open": [90],
    "aborted": [0],
    "decided": [0],
    "tombstones": [0],
    "grown": [30],
    "early": [0],
    "late": [0],
    "again": [20],
    "beyond": [20],
    "shared": [50],
    "source": [10, 10],
    "keeps-up": [100],
    "catches-up": [20_000],
    "grows": [1000],
    "beside-uncommitted": [20_000, 500],
    "beside-past-end": [20_000, 10],
    "by-hand": [20_000],
}
"""The records in each partition of a topic at first."""

ONE = (Reads("orders"),)
READ = "it has read everything"
NONE_LEFT = "it has read every record; 1 offset holds none"
WAITS = "no member reads for this group, and {} wait"
STOOD = "…has not committed …"
LAGS = "; {} of {} are not committed"
AGAIN = "the topic was truncated or recreated"
DELETED = "has lost records: the next record to read was deleted"
UNREAD = "its member has not committed; {} offsets are unread"

CASES = {
    # -- nothing is left to read
    "read-everything": Case("IDLE", 0, READ, commits={"orders": [100, 50]}, once="OK"),
    "an-empty-partition": Case("IDLE", 0, READ, commits={"orders": [100, 50]}, members=ONE, once="OK"),
    "a-new-topic": Case("IDLE", 0, READ, members=(Reads("empty"),), once="OK"),
    "emptied-by-retention": Case("IDLE", 0, READ, commits={"emptied": [100]}, once="OK"),
    "emptied-without-a-commit": Case("IDLE", 0, READ, members=(Reads("emptied"),), once="OK"),
    # -- no commit
    "one-uncommitted": Case(
        "NO COMMIT", 0, "1 of its 3 partitions has no commit; 50 offsets are unread there", "members",
        commits={"orders": [100]}, members=ONE,
    ),
    "behind-and-uncommitted": Case(
        "BEHIND", 40, STOOD + LAGS.format("50 offsets", "1 partition"), "groups",
        commits={"orders": [60]}, members=ONE,
    ),
    "nothing-committed": Case("NO COMMIT", None, UNREAD.format(150), "members", members=ONE, holds=False),
    "nothing-committed-by-two": Case(
        "NO COMMIT", None, "none of its 2 members has committed; 150 offsets are unread", "members",
        members=(*ONE, *ONE), holds=False,
    ),
    "uncommitted-after-retention": Case(
        "NO COMMIT", None, UNREAD.format(40), "members", members=(Reads("trimmed"),)
    ),
    "committed-at-zero": Case(
        "BEHIND", 150, STOOD, "groups", commits={"orders": [0, 0]}, members=ONE, holds=False
    ),
    "left-without-a-commit": Case(
        "NO COMMIT", None, "it has committed nothing", "delete", members=(Reads("orders", gone=True),)
    ),
    # -- groups without members
    "behind-without-members": Case(
        "ORPHANED", 30, WAITS.format("30 records"), "delete", commits={"orders": [70, 50]}
    ),
    "one-offset": Case("ORPHANED", 1, WAITS[:-4].format("1 record") + "waits", "delete", commits={"orders": [99, 50]}),
    "several-topics": Case(
        "ORPHANED", 12, WAITS.format("12 records"), "delete", commits={"one": [10], "two": [3], "three": [5]}
    ),
    "half-orphaned": Case(
        "ORPHANED", 16, "no member reads orders[0], where 10 offsets wait", "delete-offsets",
        commits={"orders": [90, 50], "one": [4]}, members=(Reads("one"),),
    ),
    "reads-another-topic": Case(
        "ORPHANED", 40, "no member reads orders[0] (and 1 more), where 40 offsets wait", "delete-offsets",
        commits={"orders": [70, 40]}, members=(Reads("empty"),),
    ),
    "at-the-log-start": Case(
        "ORPHANED", 40, WAITS.format("40 records"), "delete", commits={"trimmed": [60]}
    ),
    # -- members without partitions
    "an-idle-member": Case("IDLE", 0, READ, commits={"one": [10]}, members=(Reads("one"), Reads("one")), once="OK"),
    "owns-nothing": Case(
        "NO COMMIT", None, "its member owns no partition and has not committed", "members",
        members=(Reads("absent-.*", pattern=True),), owns=0,
    ),
    # -- past the end
    "past-the-end": Case(
        "PAST END", 0, f"orders[0] is committed 20 offsets past the end: {AGAIN}", "reset",
        commits={"orders": [120, 50]}, holds=False,
    ),
    "past-the-end-alone": Case(
        "PAST END", None, f"one[0] is committed 15 offsets past the end: {AGAIN}", "reset",
        commits={"one": [25]}, holds=False,
    ),
    "past-the-end-by-two": Case(
        "PAST END", None, f"two[0] (and 1 more) is committed 5 offsets past the end: {AGAIN}", "reset",
        commits={"two": [15], "one": [11]}, holds=False,
    ),
    "past-the-end-and-behind": Case(
        "ORPHANED", 30, WAITS.format("at least 30 offsets"), "delete", commits={"orders": [120, 20]}, holds=False
    ),
    "past-the-end-with-a-member": Case(
        "PAST END", 0, f"orders[1] is committed 1 offset past the end: {AGAIN}", "reset",
        commits={"orders": [100, 51]}, members=ONE, holds=False,
    ),
    "recreated": Case("NO COMMIT", None, UNREAD.format(10), "members", members=(Reads("again"),)),
    "recreated-with-the-old-commit": Case(
        "PAST END", None, f"beyond[0] is committed 10 offsets past the end: {AGAIN}", "reset",
        commits={"beyond": [20]}, holds=False,
    ),
    # -- retention
    "deleted-ahead": Case(
        "LOSING DATA", 60, f"trimmed[0] {DELETED}", "get", commits={"trimmed": [40]}
    ),
    "deleted-ahead-of-a-member": Case(
        "LOSING DATA", 60, f"trimmed[0] {DELETED}", "get", commits={"trimmed": [40]}, members=(Reads("trimmed"),)
    ),
    "all-deleted": Case("LOSING DATA", 60, f"emptied[0] {DELETED}", "get", commits={"emptied": [40]}),
    "deleted-and-past-the-end": Case(
        "LOSING DATA", 60, f"trimmed[0] {DELETED}", "get", commits={"trimmed": [40], "one": [25]}, holds=False
    ),
    # -- transactions
    "an-open-transaction": Case(
        "TXN-BLOCKED", 10,
        "open[0] waits at 90 for the transaction of producer id …, epoch …, whose last record is … s old; to find "
        "out whether it will ever end: kcli txn find-hanging open:0 --older-than 0s",
        "find-hanging", commits={"open": [90]}, members=(Reads("open"),),
    ),
    "before-an-open-transaction": Case(
        "BEHIND", 50, STOOD, "groups", commits={"open": [50]}, members=(Reads("open"),)
    ),
    "an-open-transaction-without-members": Case(
        "ORPHANED", 10, WAITS.format("10 records"), "delete", commits={"open": [90]}
    ),
    "past-the-stable-offset": Case("IDLE", 0, READ, commits={"open": [100]}, once="OK"),
    "before-an-aborted-transaction": Case(
        "BEHIND", 11, STOOD, "groups", commits={"aborted": [0]}, members=(Reads("aborted"),)
    ),
    "before-a-commit-marker": Case("IDLE", 1, NONE_LEFT, commits={"decided": [10]}, once="OK"),
    "before-a-commit-marker-with-a-member": Case(
        "IDLE", 1, NONE_LEFT, commits={"decided": [10]}, members=(Reads("decided"),), once="OK"
    ),
    "after-a-commit-marker": Case("IDLE", 0, READ, commits={"decided": [11]}, once="OK"),
    # -- compacted topics and tombstones
    "tombstones": Case("ORPHANED", 25, WAITS.format("25 records"), "delete", commits={"tombstones": [5]}),
    "a-compacted-topic": Case(
        "BEHIND", 30, STOOD, "groups", commits={"tombstones": [0]}, members=(Reads("tombstones"),)
    ),
    # -- partitions that were added
    "before-a-partition-was-added": Case("IDLE", 0, READ, commits={"grown": [30]}, once="OK"),
    "after-a-partition-was-added": Case(
        "NO COMMIT", 0, "2 of its 3 partitions have no commit; 10 offsets are unread there", "members",
        commits={"grown": [30]}, members=(Reads("grown"),),
    ),
    # -- other members
    "kip-848": Case(
        "BEHIND", 30, STOOD, "groups", commits={"orders": [70, 50]}, members=(Reads("orders", "consumer"),)
    ),
    "kip-848-has-read": Case(
        "IDLE", 0, READ, commits={"orders": [100, 50]}, members=(Reads("orders", "consumer"),), once="OK"
    ),
    "kip-848-has-no-commit": Case(
        "NO COMMIT", None, UNREAD.format(150), "members", members=(Reads("orders", "consumer"),), holds=False
    ),
    "kip-848-by-pattern": Case(
        "IDLE", 0, READ, commits={"one": [10], "three": [10]},
        members=(Reads("(one|three)", "consumer", pattern=True),), owns=2, once="OK",
    ),
    "by-pattern": Case(
        "BEHIND", 4, STOOD, "groups", commits={"one": [10], "three": [6]},
        members=(Reads("(one|three)", pattern=True),), owns=2,
    ),
    "a-static-member-is-away": Case(
        "BEHIND", 30, STOOD, "groups", commits={"orders": [70, 50]},
        members=(Reads("orders", instance="static", away=True),),
    ),
    "streams": Case(
        "BEHIND", 5, STOOD, "groups", commits={"source": [10, 5]}, members=(Reads("source", "streams"),), owns=4
    ),
    # -- share groups
    "share-starts-at-the-end": Case("IDLE", 0, READ, members=(Reads("shared", "share"),), once="OK"),
    "share-has-not-started": Case(
        "NO COMMIT", None, "it has not started to read 1 of its 1 partitions; 50 offsets are unread", "members",
        members=(Reads("shared", "share"),), starts="earliest",
    ),
    "share-is-behind": Case(
        "BEHIND", 30, "…has not acknowledged a record …", "groups",
        members=(Reads("shared", "share", takes=20),), starts="earliest",
    ),
    "share-has-read": Case(
        "IDLE", 0, READ, members=(Reads("shared", "share", takes=50),), starts="earliest", once="OK"
    ),
    "share-without-members": Case(
        "ORPHANED", 30, WAITS.format("30 offsets"), "delete",
        members=(Reads("shared", "share", takes=20, gone=True),), starts="earliest",
    ),
    # -- clocks
    "written-in-the-future": Case(
        "BEHIND", 10, STOOD, "groups", commits={"early": [0]}, members=(Reads("early"),)
    ),
    "written-long-ago": Case("BEHIND", 10, STOOD, "groups", commits={"late": [0]}, members=(Reads("late"),)),
    # -- names
    "it's-\"quoted\"-é": Case("ORPHANED", 30, WAITS.format("30 records"), "delete", commits={"orders": [70, 50]}),
    # -- what an earlier watch saw
    "stood-still-before": Case(
        "STUCK", 30, "orders[0] has a reader that has not moved for …", "peek", commits={"orders": [70, 50]},
        members=ONE, stood={"orders": [70]}, once="BEHIND",
    ),
    "moved-since": Case(
        "BEHIND", 30, STOOD, "groups", commits={"orders": [70, 50]}, members=ONE, stood={"orders": [60]}
    ),
    # -- groups that move
    "keeps-up": Case(
        "OK", -1, "it …", commits={"keeps-up": [100]}, members=(Reads("keeps-up"),), pace=(10, 10), eta=None
    ),
    "catches-up": Case(
        "BEHIND", -1, "it will have caught up in …", "lag", commits={"catches-up": [0]},
        members=(Reads("catches-up"),), pace=(5, 50), eta=True, holds=False,
    ),
    "grows": Case(
        "GROWING", -1, "it falls behind by … offsets per second", "alter", commits={"grows": [0]},
        members=(Reads("grows"),), pace=(100, 10), once="BEHIND", holds=False,
    ),
    "catches-up-beside-uncommitted": Case(
        "BEHIND", -1, "it reads … offsets per second" + LAGS.format("500 offsets", "1 partition"), "groups",
        commits={"beside-uncommitted": [0]},
        members=(Reads("beside-uncommitted"),), pace=(5, 50), holds=False,
    ),
    "catches-up-beside-past-the-end": Case(
        "PAST END", -1, f"beside-past-end[1] is committed 5 offsets past the end: {AGAIN}", "reset",
        commits={"beside-past-end": [0, 15]}, members=(Reads("beside-past-end"),), pace=(5, 50), holds=False,
    ),
    "assigned-by-hand": Case(
        "ORPHANED", -1, "no member reads for this group, but its offsets move: its consumers assign themselves "
        "partitions, and … records wait", "lag", commits={"by-hand": [0]}, pace=(5, 50), holds=False,
        eta=False,
    ),
}  # fmt: skip


async def prepare(stage: Scene) -> None:
    """The topics, as the situations need them."""
    cluster = stage.client.cluster
    await stage.create({name: len(counts) for name, counts in TOPICS.items() if name != "tombstones"})
    compacted = {"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"}
    await stage.create({"tombstones": 1}, compacted)
    await asyncio.gather(*(stage.write(name, counts) for name, counts in TOPICS.items()))
    for name, age in (("early", -HOUR / 2), ("late", 2 * DAY)):
        await stage.write(name, [10], age=age)
    for value in (b"v", None):
        await stage.write("tombstones", [15], value=value)
    await delete_records(cluster, {stage.at("trimmed"): 60, stage.at("emptied"): 100})
    assert await grow_topics(cluster, {stage.prefix + "grown": 3}) == {stage.prefix + "grown": None}
    await wait_for_topics(cluster, [stage.prefix + "grown"])
    await stage.write("grown", [0, 5, 5])
    await stage.write_transaction("aborted", 10, aborts=True)
    await stage.write_transaction("decided", 10)
    again = [stage.prefix + name for name in ("again", "beyond")]
    await stage.commit("recreated", {"again": [20]})
    await delete_topics(cluster, again)
    await wait_for_topics(cluster, again, gone=True)
    await stage.create({"again": 1, "beyond": 1})
    await stage.write("again", [10])
    await stage.write("beyond", [10])


async def play(kafka: Kafka, prefix: str, folder: Path) -> Look:
    async with scene(kafka, prefix) as stage, AsyncExitStack() as stack:
        await prepare(stage)
        writer = await stack.enter_async_context(
            stage.client.producer(ProducerSettings(transactional_id=f"{prefix}open"))
        )
        await writer.begin()
        for _ in range(10):
            await writer.send(f"{prefix}open", b"v", partition=0, timestamp=ago(600.0))
        await writer.flush()
        await asyncio.gather(*(stage.commit(name, case.commits) for name, case in CASES.items() if case.commits))
        starts = {
            Resource("group", prefix + name): [Operation(name="share.auto.offset.reset", how=SET, value=case.starts)]
            for name, case in CASES.items()
            if case.starts
        }
        assert set((await alter_configs(stage.client.cluster, starts)).values()) == {None}
        await asyncio.gather(*(stage.join(name, one) for name, case in CASES.items() for one in case.members))
        there = {name: case for name, case in CASES.items() if case.members and not case.members[0].gone}
        await stage.present(
            {name: owned(case) for name, case in there.items()},
            {name: len(case.members) for name, case in there.items()},
        )
        ends = {name: counts[0] for name, counts in TOPICS.items()}
        return await look(kafka, stage, CASES, Moving(stage, CASES, ends), folder)


def owned(case: Case) -> int:
    """How many partitions the members of a group own."""
    if case.owns is not None:
        return case.owns
    topics = {topic for one in case.members for topic in one.topics.split()}
    return sum(3 if topic == "grown" else len(TOPICS[topic]) for topic in topics)


@pytest.fixture(scope="module", autouse=True)
def face() -> Iterator[None]:
    """Commands in sentences, from the first look on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kcli.errors.wording", worded)
        yield


@pytest.fixture(scope="module")
def seen(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Look:
    """All situations, looked at once."""
    return asyncio.run(play(kafka, f"s{uuid.uuid4().hex[:6]}.", tmp_path_factory.mktemp("situations")))


def matches(sentence: str, text: str) -> bool:
    """Whether a text is this sentence, with anything for "…"."""
    return re.fullmatch(".+".join(map(re.escape, sentence.split("…"))), text) is not None


@pytest.mark.parametrize("name", CASES)
def test_all_outputs_agree_on_a_real_kafka(seen: Look, name: str) -> None:
    case, found = CASES[name], seen.outputs[name]
    agree(found, case.status, case.lag, once=case.once, moves=case.lag == -1)
    assert matches(case.sentence, found.why.why), found.why.why
    command = found.why.command or ""
    assert case.command in command.split() if case.command else not command, command
    assert (found.broken == [], found.broken) == (case.holds, found.broken)
    if case.eta is not None:
        told = case.eta or (case.lag == 0 and case.status == "IDLE")
        assert {one.eta is not None for one in (found.why, found.watch, found.dashboard)} == {told}
    drawn = seen.table[name]
    assert (case.once or case.status) in drawn["STATUS"]
    assert drawn["LAG"].startswith("≥") == (found.table.unknown > 0 and found.table.lag is not None)


@pytest.mark.parametrize("name", CASES)
def test_lag_is_what_kafkas_tools_print(seen: Look, name: str) -> None:
    """A partition without records and a commit past the end are where kcli says more."""
    theirs = {at: figures for at, figures in seen.theirs.items() if at[0] == name}
    mine = {}
    for at, row in seen.rows.items():
        if at[0] == name:
            lag = row["lag"] if row["status"] != "PAST END" else -row["beyond"]
            printed = theirs.get(at, ())
            unsaid = row["committed"] is None and printed[-1:] == ("-",)
            figures = row["committed"], row["end"], None if unsaid else lag
            texts = ["-" if one is None else str(one) for one in figures]
            mine[at] = tuple(text if one else "" for text, one in zip(texts, printed, strict=False))
    assert mine == theirs


# -- over minutes, by a clock of the test ------------------------------------------------------------------------------


class Told(NamedTuple):
    """A group that is watched for long, and what is done before the look number `n`."""

    topics: list[int]
    case: Case
    each: Callable[[Acting, int], Awaitable[None]]


class Acting:
    """One group, which writes to its topic and commits as its members or, without any, as a tool."""

    def __init__(self, stage: Scene, name: str, counts: list[int], producer: Producer) -> None:
        self._stage, self.name, self.ends, self._producer = stage, name, list(counts), producer

    async def write(self, partition: int, count: int) -> None:
        await self._producer.send_records(self._stage.prefix + self.name, [(partition, None, None, b"v", ())] * count)
        await self._producer.flush()
        self.ends[partition] += count

    async def commit(self, partition: int, offset: int) -> None:
        at = self._stage.at(self.name, partition)
        for consumer in self._stage.consumers.get(self.name, ()):
            if at in consumer.assignment:
                await consumer.commit({at: offset})
                return
        await self._stage.commit(self.name, {self.name: [None] * partition + [offset]})

    async def leave(self) -> None:
        for consumer in self._stage.consumers.pop(self.name):
            await consumer.close()


async def rest(act: Acting, n: int) -> None:
    """Nothing happens."""


async def read_the_first(act: Acting, n: int) -> None:
    """The first partition is written and read, the others stand still."""
    await act.write(0, 10)
    await act.commit(0, act.ends[0])


async def step_back(act: Acting, n: int) -> None:
    if n == 20:
        await act.commit(0, 20)


async def leave_and_be_reset(act: Acting, n: int) -> None:
    if n in (1, 2, 3):
        await act.commit(0, n)
    elif n == 6:
        await act.leave()
    elif n == 20:
        await act.commit(0, 50)


async def catch_up(act: Acting, n: int) -> None:
    await act.write(0, 10)
    await act.commit(0, 100 * (n + 1))


async def commit_every_fifth(act: Acting, n: int) -> None:
    await act.write(0, 120)
    if n % 5 == 0:
        await act.commit(0, act.ends[0])


async def commit_every_fifth_at_first(act: Acting, n: int) -> None:
    await act.write(0, 120)
    if n % 5 == 0 and n <= 15:
        await act.commit(0, act.ends[0])


async def write_now_and_then(act: Acting, n: int) -> None:
    if n % 10 == 0:
        await act.write(0, 1)
        await act.commit(0, act.ends[0])


SECONDS = {
    "stuck": Told(
        [100],
        Case("STUCK", 60, "stuck[0] has a reader that has not moved for …", "peek", commits={"stuck": [40]},
             members=(Reads("stuck"),), once="BEHIND"),
        rest,
    ),
    "one-is-paused": Told(
        [0, 100],
        Case("STALLED", 60, "one-is-paused[1] has not moved for …, while its member reads other partitions", "members",
             commits={"one-is-paused": [0, 40]}, members=(Reads("one-is-paused"),), once="BEHIND"),
        read_the_first,
    ),
    "one-of-two-is-stuck": Told(
        [0, 100],
        Case("STUCK", 60, "one-of-two-is-stuck[1] has a reader that has not moved for …", "peek",
             commits={"one-of-two-is-stuck": [0, 40]}, members=(Reads("one-of-two-is-stuck"),) * 2, once="BEHIND"),
        read_the_first,
    ),
    "stepped-back": Told(
        [100],
        Case("REWOUND", 80, "stepped-back[0] went back from 80 to 20", "reset", commits={"stepped-back": [80]},
             members=(Reads("stepped-back"),), once="BEHIND"),
        step_back,
    ),
    "reset-without-members": Told(
        [100],
        Case("ORPHANED", 50, WAITS.format("50 offsets"), "delete", commits={"reset-without-members": [0]},
             members=(Reads("reset-without-members"),)),
        leave_and_be_reset,
    ),
    "static-and-away": Told(
        [100],
        Case("STUCK", 60, "static-and-away[0] has a reader that has not moved for …", "peek",
             commits={"static-and-away": [40]}, members=(Reads("static-and-away", instance="s", away=True),),
             once="BEHIND"),
        rest,
    ),
    "drained": Told(
        [0],
        Case("IDLE", 1, NONE_LEFT, commits={"drained": [10]}, members=(Reads("drained"),), once="OK"),
        rest,
    ),
    "nobody-writes": Told(
        [100],
        Case("IDLE", 0, READ, commits={"nobody-writes": [100]}, members=(Reads("nobody-writes"),), once="OK"),
        rest,
    ),
    "catching-up": Told(
        [10_000],
        Case("BEHIND", 7840, "it will have caught up in …", "lag", commits={"catching-up": [0]},
             members=(Reads("catching-up"),), eta=True, holds=False),
        catch_up,
    ),
    "moved-while-closed": Told(
        [100],
        Case("STUCK", 60, "moved-while-closed[0] has a reader that has not moved for …", "peek",
             commits={"moved-while-closed": [40]}, members=(Reads("moved-while-closed"),), once="BEHIND"),
        rest,
    ),
}  # fmt: skip
MINUTES = {
    "every-ten-minutes": Told(
        [0],
        Case("OK", 240, "it keeps up: 240 offsets wait for the next commit", commits={"every-ten-minutes": [0]},
             members=(Reads("every-ten-minutes"),), once="BEHIND", holds=False),
        commit_every_fifth,
    ),
    "every-ten-minutes-at-first": Told(
        [0],
        Case("STUCK", 2040, "every-ten-minutes-at-first[0] has a reader that has not moved for …", "peek",
             commits={"every-ten-minutes-at-first": [0]}, members=(Reads("every-ten-minutes-at-first"),),
             once="BEHIND", holds=False),
        commit_every_fifth_at_first,
    ),
    "paused-for-an-hour": Told(
        [0, 100],
        Case("STUCK", 60, "paused-for-an-hour[1] has a reader that has not moved for …", "peek",
             commits={"paused-for-an-hour": [0, 40]}, members=(Reads("paused-for-an-hour"),), once="BEHIND"),
        read_the_first,
    ),
    "written-now-and-then": Told(
        [0],
        Case("IDLE", 0, READ, commits={"written-now-and-then": [0]}, members=(Reads("written-now-and-then"),),
             once="OK"),
        write_now_and_then,
    ),
}  # fmt: skip
BACK = 12
"""Before this look of the first script the clock is set back by an hour."""
REOPENED = {
    "stuck": ("STUCK", 60, "stuck[0] has a reader that has not moved for 26m50s"),
    "moved-while-closed": ("BEHIND", 30, "its read rate is unknown"),
    "every-ten-minutes": ("BEHIND", 240, "its member has not committed for 29m40s"),
}
"""Status, lag and sentence when the watch begins again, 25 minutes later."""


async def watch(kafka: Kafka, prefix: str) -> dict[str, Outputs]:
    """Every group after its script, and again where the watch is begun anew, as `NAME, reopened`."""
    found: dict[str, Outputs] = {}
    async with AsyncExitStack() as stack:
        stage = await stack.enter_async_context(scene(kafka, prefix))
        producer = await stack.enter_async_context(stage.client.producer(ProducerSettings()))
        looker = await stack.enter_async_context(Client(kafka.bootstrap))  # its fetches wait for no consumer's
        both = SECONDS | MINUTES
        await stage.create({name: len(told.topics) for name, told in both.items()})
        await asyncio.gather(*(stage.write(name, told.topics) for name, told in both.items()))
        await stage.write_transaction("drained", 10)
        await asyncio.gather(*(stage.commit(name, told.case.commits) for name, told in both.items()))
        await asyncio.gather(*(stage.join(name, one) for name, told in both.items() for one in told.case.members))
        await stage.present(
            {name: len(told.topics) for name, told in both.items()},
            {name: len(told.case.members) for name, told in both.items()},
        )
        clock = Clock()
        for scripts, looks, step in ((SECONDS, 24, 5.0), (MINUTES, 33, 120.0)):
            acts = {name: Acting(stage, name, told.topics, producer) for name, told in scripts.items()}
            history = History()
            watched = Watch(looker.cluster, [prefix + name for name in scripts], history, exact=True, clock=clock)
            for n in range(looks):
                await asyncio.gather(*(told.each(acts[name], n) for name, told in scripts.items()))
                clock.now += step - HOUR * (n == BACK and scripts is SECONDS)
                seen = await watched.refresh()
            found |= {name: plain(outputs(seen, prefix + name), prefix) for name in scripts}
            if scripts is SECONDS:
                await acts["moved-while-closed"].commit(0, 70)
            clock.now += 1500.0
            again, names = History(), [name for name in REOPENED if name in scripts]
            again.go_on(history.standstills())
            watched = Watch(looker.cluster, [prefix + name for name in names], again, clock=clock)
            for n in range(1 if scripts is SECONDS else 9):
                clock.now += 5.0 * (n > 0)
                seen = await watched.refresh()
            found |= {f"{name}, reopened": plain(outputs(seen, prefix + name), prefix) for name in names}
    return found


def plain(found: Outputs, prefix: str) -> Outputs:
    """The same without the prefix of names."""
    found.why.why, found.dashboard.described.group = found.why.why.replace(prefix, ""), found.table.group[len(prefix) :]
    return found._replace(sentence=found.sentence.replace(prefix, ""), prometheus=found.prometheus.replace(prefix, ""))


class Clock:
    """The time of a script."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def over_time(kafka: Kafka) -> dict[str, Outputs]:
    return asyncio.run(watch(kafka, f"w{uuid.uuid4().hex[:6]}."))


@pytest.mark.parametrize("name", SECONDS | MINUTES)
def test_all_outputs_agree_over_minutes(over_time: dict[str, Outputs], name: str) -> None:
    case, found = (SECONDS | MINUTES)[name].case, over_time[name]
    agree(found, case.status, case.lag, once=case.once)
    assert matches(case.sentence, found.why.why), found.why.why
    command = found.why.command or ""
    assert case.command in command.split() if case.command else not command, command
    assert (found.broken == [], found.broken) == (case.holds, found.broken)
    assert (found.why.eta is not None) == (case.eta or case.lag == 0)
    rates = found.watch.in_rate, found.watch.out_rate
    assert all(one is None or one >= 0 for one in rates), rates
    if name == "reset-without-members":
        assert not found.watch.out_rate, "a reset is no throughput"


@pytest.mark.parametrize("name", REOPENED)
def test_a_watch_that_begins_again_knows_what_stood_still(over_time: dict[str, Outputs], name: str) -> None:
    found, (status, lag, sentence) = over_time[f"{name}, reopened"], REOPENED[name]
    agree(found, status, lag, once="BEHIND")
    assert found.why.why == sentence


# -- a broker that is away ---------------------------------------------------------------------------------------------

AWAY = {
    "has-read-the-others": Case(
        "UNKNOWN", 0, "its offsets could not be read: …", "doctor", commits={"spread": [10, 10, 10]}
    ),
    "behind-in-the-others": Case(
        "ORPHANED", 20, WAITS.format("at least 20 offsets"), "delete", commits={"spread": [0, 0, 0]}
    ),
}  # fmt: skip
"""Groups that read a topic, of which a partition has no leader. It holds ten records in each."""


async def part(kafka: Kafka, prefix: str, folder: Path, *, frozen: bool) -> Look:
    """What is seen while the leader of a partition without other replicas is dead, or stands still."""
    async with scene(kafka, prefix) as stage:
        await stage.create({"spread": 3}, replicas=1)
        await stage.write("spread", [10, 10, 10])
        await asyncio.gather(*(stage.commit(name, case.commits) for name, case in AWAY.items()))
        coordinators = [await stage.client.cluster.coordinator(Group(prefix + name)) for name in AWAY]
        others = [kafka.leader(f"{prefix}spread", n) for n in range(3)]
        node = next(one for one in others if one.id not in {broker.node_id for broker in coordinators})
        await asyncio.to_thread(node.pause if frozen else node.kill)
        try:
            return await look(kafka, stage, {}, Moving(stage, {}, {}), folder, code=1)
        finally:
            if frozen:
                node.resume()


@pytest.mark.parametrize("frozen", [False, True], ids=["killed", "frozen"])
def test_a_partition_whose_leader_is_away_is_unknown_in_every_output(
    kafka3: Kafka, tmp_path: Path, frozen: bool
) -> None:
    found = asyncio.run(part(kafka3, f"a{uuid.uuid4().hex[:6]}.", tmp_path, frozen=frozen))
    for name, case in AWAY.items():
        one = found.outputs[name]
        agree(one, case.status, case.lag)
        assert matches(case.sentence, one.why.why), one.why.why
        assert one.table.unknown == 1
        assert one.why.eta is None
        drawn = found.table[name]
        assert case.status in drawn["STATUS"]
        assert drawn["LAG"] == f"≥ {case.lag}"
        assert metric(one.prometheus, "kafka_consumergroup_lag_sum", name) is None
