"""What is wrong with the cluster besides its groups: brokers that are down, partitions offline or under-replicated,
full disks, transactions that hang. Brokers are asked beside the refreshes of groups, each question at its own pace."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from kcli.admin.reassign.reassignments import list_reassignments
from kcli.admin.storage import log_dirs
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.admin.transactions.hanging_transactions import OLD, every_partition, find_open
from kcli.errors import KcliError
from kcli.lag.watch import pause
from kcli.model import TopicPartition
from kcli.text.numbers import counted, duration, size
from kcli.tui.beat.gc_tuning import Pace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from kcli.admin.reassign.reassignments import Ongoing
    from kcli.admin.storage import LogDir
    from kcli.admin.topics.topics import Partition
    from kcli.admin.transactions.hanging_transactions import OpenTransaction, Search
    from kcli.client import Client
    from kcli.model import Cluster

FULL = 0.1
"""The share of a volume that is free, below which it is nearly full."""
DISKS, TRANSACTIONS = 30.0, 60.0
"""Seconds between two questions about all disks, and about the transactions in all partitions, at least."""
PARTITIONS = 10_000
"""Partitions of which the leaders are asked for transactions in that time; of more it takes longer."""
NAMED = 3
"""Partitions that a line names."""
PAGES = {"replicas": "topics", "disks": "brokers", "transactions": "transactions"}
"""The page about each question."""
LASTS = 2
"""Answers in a row that an incident must be in, or missing from, before it is told."""
UNKNOWN = "UNKNOWN"
KINDS = {
    "DOWN": "a broker does not answer, or left the cluster",
    "OFFLINE": "partitions have no leader: nobody can read or write them",
    "UNDER-REPLICATED": "replicas are behind on a broker that responds",
    "DISK FULL": f"less than {FULL:.0%} of a volume is free",
    "DISK FAILED": "a broker lost a log directory",
    "HANGING": "a hanging transaction blocks readers",
    UNKNOWN: "brokers did not answer about partitions, disks or transactions",
}
"""The kinds, the worst first, and what each means."""


class Incident(NamedTuple):
    """`kind` is one of KINDS, `name` what has it; `text` says more, `place` is the page about it, as after `:`. `begun`
    is when it was seen first, in seconds since the epoch; with `before` it was there when it was first asked for."""

    kind: str
    name: str
    text: str
    place: str
    begun: float = 0.0
    before: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """What it is acknowledged by."""
        return f"cluster/{self.kind}/{self.name}", self.kind


def named(partitions: Sequence[Partition]) -> str:
    """`orders[0], orders[1], payments[2] and 9 more`; Kafka's own topics come last."""
    first = sorted(partitions, key=lambda one: (one.topic.startswith("__"), one.topic, one.partition))[:NAMED]
    words = ", ".join(f"{one.topic}[{one.partition}]" for one in first)
    return words + (f" and {len(partitions) - NAMED} more" if len(partitions) > NAMED else "")


def of_replicas(
    topics: Sequence[Topic], down: dict[int, str], moves: Mapping[TopicPartition, Ongoing] | None = None
) -> list[Incident]:
    """The brokers that are `down`, each with why, with what that means for partitions; partitions without a leader;
    brokers that answer and are behind. A replica that `moves` add may be behind (KIP-352)."""
    every = [part for topic in topics for part in topic.partitions]
    offline = [part for part in every if part.leader < 0]
    behind: dict[int, list[Partition]] = {}
    for part in every:
        for broker in part.replicas:
            move = moves.get(TopicPartition(part.topic, part.partition)) if moves else None
            if broker not in part.isr and (move is None or broker not in move.adding):
                behind.setdefault(broker, []).append(part)
    found = []
    for broker, why in sorted(down.items()):
        lost = behind.pop(broker, [])
        means = f"{counted(len(lost), 'partition')} under-replicated: {named(lost)}" if lost else "no partition lost it"
        found.append(Incident("DOWN", f"broker {broker}", f"{why}; {means}", f"broker {broker}"))
    if offline:
        text = f"{counted(len(offline), 'partition')} without a leader: {named(offline)}"
        found.append(Incident("OFFLINE", "partitions", text, f"topic {offline[0].topic}"))
    for broker, lost in sorted(behind.items()):
        text = f"behind in {counted(len(lost), 'partition')}: {named(lost)}"
        found.append(Incident("UNDER-REPLICATED", f"broker {broker}", text, f"broker {broker}"))
    return found


def of_disks(places: Sequence[LogDir]) -> list[Incident]:
    """Volumes that are nearly full, and directories that failed."""
    found = []
    for one in places:
        name, place = f"broker {one.broker} {one.directory}", f"broker {one.broker}"
        if one.error is not None:
            found.append(Incident("DISK FAILED", name, str(one.error), place))
        elif one.total > 0 and 0 <= one.usable < FULL * one.total:
            text = f"{size(one.usable)} of {size(one.total)} free ({one.usable / one.total:.0%})"
            found.append(Incident("DISK FULL", name, text, place))
    return found


def of_transactions(transactions: Sequence[OpenTransaction]) -> list[Incident]:
    """Those that hang, by partition."""
    return [
        Incident(
            "HANGING",
            f"{one.at.topic}[{one.at.partition}]",
            f"{one.name or f'producer {one.producer.producer_id}'}, idle for {duration(one.age)}: {one.hangs}",
            "transactions",
        )
        for one in transactions
        if one.hangs
    ]


class Found(NamedTuple):
    """The answer to a question: incidents, and why it is not complete. `keeps` says which older incidents may still be
    there, because what they are of did not answer."""

    incidents: list[Incident]
    problem: str = ""
    keeps: Callable[[Incident], bool] = lambda one: False


def of_places(places: Sequence[LogDir], failed: dict[int, KcliError]) -> Found:
    """The disks of the brokers that answered, and which did not."""
    silent = {f"broker {broker}" for broker in failed}
    return Found(
        of_disks(places), _why([f"broker {broker}" for broker in failed], failed), lambda one: one.place in silent
    )


def of_search(search: Search) -> Found:
    """The transactions that hang, and which partitions and coordinators did not answer."""
    silent = {f"{at.topic}[{at.partition}]" for at in search.failed}
    problems = [_why(sorted(silent), search.failed), _why([f"broker {one}" for one in search.untold], search.untold)]
    return Found(
        of_transactions(search.transactions),
        "; ".join(filter(None, problems)),
        lambda one: bool(search.untold) or one.name in silent,
    )


def _why(names: Sequence[str], failed: Mapping[Any, KcliError]) -> str:
    """`broker 2, broker 3 and 4 more: …`, with the first error; "" without one."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}: {next(iter(failed.values()))}" if failed else ""


class Inspection:
    """Asks a cluster again and again. `down` says which brokers do not answer, and why; `post` gets all incidents each
    time that one of the questions was answered or failed. A question that fails keeps what was known, and is an
    incident itself: what it is about is unknown."""

    def __init__(
        self, interval: Callable[[], float],
        down: Callable[[Cluster, Sequence[Topic]], Awaitable[dict[int, str]]],
        post: Callable[[list[Incident]], object],
    ) -> None:  # fmt: skip
        self._interval, self._down, self._post = interval, down, post
        self._weight = 1.0
        self._found: dict[str, list[Incident]] = {}
        self._answered: set[str] = set()  # questions
        self._begun: dict[tuple[str, str], tuple[float, bool]] = {}  # by a clock that is never set

    async def run(self, client: Client, is_paused: Callable[[], bool]) -> None:
        """Until it is cancelled."""

        async def replicas(cluster: Cluster) -> Found:
            moves, problem = None, ""
            try:
                moves = await list_reassignments(cluster)  # first: the replicas of one that ends meanwhile are in sync
            except KcliError as failure:
                problem = f"moves in progress: {failure}"
            found = (await describe_topics(cluster, None, internal=True)).values()
            topics = [topic for topic in found if isinstance(topic, Topic)]
            incidents = of_replicas(topics, await self._down(cluster, topics), moves)
            matters = any(one.kind == "UNDER-REPLICATED" for one in incidents)
            return Found(incidents, problem if matters else "")

        async def disks(cluster: Cluster) -> Found:
            return of_places(*await log_dirs(cluster))

        async def transactions(cluster: Cluster) -> Found:
            partitions = await every_partition(cluster)
            self._weight = max(len(partitions) / PARTITIONS, 1.0)
            return of_search(await find_open(cluster, partitions, older_than=OLD))

        questions: list[tuple[Callable[[Cluster], Any], float]]
        questions = [(replicas, 0.0), (disks, DISKS), (transactions, TRANSACTIONS)]
        await asyncio.gather(*(self._repeat(client.cluster, *question, is_paused) for question in questions))

    async def _repeat(
        self, cluster: Cluster, ask: Callable[[Cluster], Any], least: float, is_paused: Callable[[], bool]
    ) -> None:
        pace, name = Pace(), ask.__name__  # which is what it is about
        while True:
            rest = pause(self._interval())
            if not is_paused():
                try:
                    with pace.measured():
                        self._take(name, await ask(cluster))
                    rest = pause(max(pace.interval(self._interval()), least * self._weight))
                except KcliError as problem:
                    self._take(name, Found([], str(problem), lambda one: True), answered=False)
            await asyncio.sleep(rest)

    def _take(self, question: str, answer: Found, *, answered: bool = True) -> None:
        now, older = time.monotonic(), self._found.get(question, [])
        found, keys = list(answer.incidents), {one.key for one in answer.incidents}
        found += [one for one in older if one.kind != UNKNOWN and one.key not in keys and answer.keeps(one)]
        if answer.problem:
            found.append(Incident(UNKNOWN, question, answer.problem, PAGES[question]))
        first = {one.key for one in found} if question not in self._answered else ()
        if answered:
            self._answered.add(question)
        self._found[question] = found
        every = [one for some in self._found.values() for one in some]
        self._begun = {one.key: self._begun.get(one.key, (now, one.key in first)) for one in every}
        kinds = list(KINDS)
        dated = []
        for one in every:
            begun, before = self._begun[one.key]
            dated.append(one._replace(begun=time.time() - (now - begun), before=before))
        self._post(sorted(dated, key=lambda one: (kinds.index(one.kind), one.name)))


class News:
    """Which incidents are new, or over, by two answers in a row; those that were there before are not new."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], Incident] = {}
        self._next: dict[tuple[str, str], int] = {}

    def see(self, incidents: Sequence[Incident]) -> tuple[list[Incident], list[Incident]]:
        """Those that began, and those that are over. What is unknown is shown, and no news."""
        now = {one.key: one for one in incidents if one.kind != UNKNOWN}
        self._told |= {key: one for key, one in now.items() if one.before}
        changed = now.keys() ^ self._told.keys()
        self._next = {key: self._next.get(key, 0) + 1 for key in changed}
        ripe = [key for key, many in self._next.items() if many >= LASTS]
        began = [now[key] for key in ripe if key in now]
        over = [self._told.pop(key) for key in ripe if key in self._told]
        self._told |= {one.key: one for one in began}
        for key in ripe:
            del self._next[key]
        return began, over
