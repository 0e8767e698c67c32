"""Metadata requests: one refresh at a time, rate-limited, to all known brokers and then to the seeds.

If a broker demands it, or no broker has responded for metadata.recovery.rebootstrap.trigger.ms, the known brokers are
discarded and the client starts again at the seeds (KIP-899, KIP-1102). If another broker responds at the address of a
known one, the seeds are asked first, once after each such attempt (KIP-1242); connections to the other brokers are
kept.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.backoff import LEAST, Backoff, after, retry
from kcli.cluster.pool import unreachable
from kcli.cluster.topology import Topology
from kcli.errors import (
    BrokerError,
    Closed,
    ConnectError,
    DeadlineExceeded,
    KcliError,
    Misrouted,
    Unreached,
    cannot_connect,
)
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.tasks import retrieve, share
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence
    from typing import TypeVar

    from kcli.cluster.pool import Pool
    from kcli.model import BrokerConnection, TopicPartition
    from kcli.proto.messages.metadata import MetadataResponse
    from kcli.settings import ClientSettings

    R = TypeVar("R")

LOG = Log("cluster")
METADATA = 3
EPOCHS_SINCE = 9  # Metadata version from which on leader epochs are reliable
BROKERS = ""  # stands for a request without topics
HEAD_START = 1.0  # seconds before the next broker is tried while connecting to one; less if there are many


class _SentBack(Exception):
    """REBOOTSTRAP_REQUIRED: the known brokers have to be discarded."""


class Metadata:
    """The known metadata (`topology`), the topics in use, and the partitions whose leader is known to be wrong
    (`stale`)."""

    def __init__(self, pool: Pool, settings: ClientSettings) -> None:
        self.topology = Topology()
        self.stale: set[TopicPartition] = set()
        self._pool = pool
        self._settings = settings
        self._wanted: set[str] = set()  # topics that a caller asked for
        self._pace = RefreshLimit(settings.retry_backoff, settings.retry_backoff_max)
        self._refreshing: dict[frozenset[str], asyncio.Task[None]] = {}
        self._known_at = -1e9
        self._unanswered_since: float | None = None  # when the first request without a response was sent
        self._seeds_asked = -1e9  # when the seeds were asked because of a wrong broker
        self._soon: asyncio.TimerHandle | None = None

    def distrust(self, at: TopicPartition) -> None:
        """The partition's leader is known to be wrong."""
        self.stale.add(at)
        self.topology.version += 1

    def trust(self, at: TopicPartition) -> None:
        """The partition's leader is known after all."""
        self.stale.discard(at)
        self.topology.version += 1

    async def know(self) -> None:
        """Load the metadata unless the brokers are known."""
        if not self.topology.nodes:
            await self.refresh([])

    async def refresh(self, topics: Sequence[str] | None = None) -> None:
        """See `model.Cluster.refresh`. Concurrent requests for the same topics share one refresh.

        A new topic is requested alone: together with all known ones, the n topics of a loop would be requested about n²
        times.
        """
        about = frozenset(topics or ())
        alone = topics is not None and (not about or not about <= self.topology.topics.keys())
        self._wanted |= about
        key = about if alone else frozenset(self._wanted)
        await share(self._refreshing.get(key) or self._begin(key, key if topics is None else topics))

    def _begin(self, key: frozenset[str], because_of: Collection[str]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(self._refresh(sorted(key), because_of), name="refresh metadata")
        self._refreshing[key] = task
        task.add_done_callback(retrieve)
        task.add_done_callback(lambda _: self._refreshing.pop(key, None))
        return task

    async def _refresh(self, topics: list[str], because_of: Collection[str]) -> None:
        loop = asyncio.get_running_loop()
        if (wait := self._pace.wait(because_of, loop.time())) > 0:
            await asyncio.sleep(wait)
        # this request cannot fix what is found wrong later
        proven_wrong = {at for at in self.stale if at.topic in topics}
        changed: set[str] = set()
        try:
            changed = await self.ask(topics)
            self._pool.check_met(list(self.topology.nodes.values()), loop.time())
        finally:
            self._pace.asked(because_of, loop.time(), changed)
        self.stale -= proven_wrong
        self.topology.version += 1
        for topic in topics:
            known = self.topology.topics.get(topic)
            if known is not None and not known.partitions and not known.error.retriable:
                self._wanted.discard(topic)
                self._pace.forget(topic)
        if self._wanted.issubset(topics):
            self._known_at = loop.time()

    def refresh_if_old(self) -> None:
        """Start a refresh in the background if the metadata is older than metadata.max.age."""
        now = asyncio.get_running_loop().time()
        if now - self._known_at > self._settings.metadata_max_age and not self._refreshing:
            key = frozenset(self._wanted)
            self._begin(key, key)

    def refresh_soon(self) -> None:
        """Refresh soon after a hint was used, to confirm it."""
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(self._settings.retry_backoff, self._now)

    def _now(self) -> None:
        self._soon = None
        key = frozenset(self._wanted)
        if key and key not in self._refreshing:
            self._begin(key, key)

    # -- requests ---------------------------------------------------------------------------------------------------

    async def ask(self, topics: list[str] | None) -> set[str]:
        """Request metadata of topics (None: all) until a broker responds or the deadline passes. Returns the changed
        topics."""
        return (await self.ask_everything(topics))[1]

    async def ask_everything(self, topics: list[str] | None) -> tuple[MetadataResponse, set[str]]:
        """Like `ask`, with the response. Without `wait_for_cluster`, a client that knows no broker tries each seed
        once, so that a typo fails at once."""
        request = MetadataRequest(
            topics=None if topics is None else [MetadataRequestTopic(name=name) for name in topics],
            allow_auto_topic_creation=self._settings.auto_create_topics,
        )
        return await self._ask_for(request)

    async def learn(self, ids: Collection[bytes]) -> None:
        """Request the metadata of topics by id. Those found are in use from now on, as if requested by name."""
        asked = [MetadataRequestTopic(topic_id=topic_id, name=None) for topic_id in sorted(ids)]
        answer, _ = await self._ask_for(MetadataRequest(topics=asked, allow_auto_topic_creation=False))
        self._wanted.update(row.name for row in answer.topics if row.name and not row.error_code)

    async def _ask_for(self, request: MetadataRequest) -> tuple[MetadataResponse, set[str]]:
        deadline = asyncio.get_running_loop().time() + self._settings.deadline
        pauses = Backoff(self._settings.retry_backoff, self._settings.retry_backoff_max)
        reasons: dict[str, KcliError] = {}
        answer, broker = await retry(
            lambda: self._ask_once(request, deadline, reasons),
            pauses,
            deadline,
            policy=lambda problem: pauses if problem.retriable and self._waits(reasons) else None,
        )
        return answer, await self._take(answer, broker)

    def _waits(self, reasons: dict[str, KcliError]) -> bool:
        """Whether to keep asking a cluster that does not respond: it was reachable before, or may be about to start.
        Waiting does not help if something other than a broker responds."""
        silent = any(isinstance(problem, Unreached | DeadlineExceeded) for problem in reasons.values())
        return bool(self.topology.nodes) or (self._settings.wait_for_cluster and silent)

    async def _ask_once(
        self, request: MetadataRequest, deadline: float, reasons: dict[str, KcliError]
    ) -> tuple[MetadataResponse, BrokerConnection]:
        """Return the first response and its broker. Raises ConnectError or DeadlineExceeded that combines all
        `reasons`."""
        now = asyncio.get_running_loop().time()
        if self._unanswered_since is None:  # or another request was answered meanwhile
            self._unanswered_since = now
        if now - self._unanswered_since >= self._settings.rebootstrap_trigger:
            await self._rebootstrap()
        try:
            answered = await self._ask_each(request, deadline, reasons)
        except _SentBack:
            await self._rebootstrap()
            # the seeds themselves cannot require a rebootstrap
            answered = await self._ask_each(request, deadline, reasons)
        if answered is None:
            raise self._unreachable(reasons)
        return answered

    async def _ask_each(
        self, request: MetadataRequest, deadline: float, reasons: dict[str, KcliError]
    ) -> tuple[MetadataResponse, BrokerConnection] | None:
        """Ask brokers in turn; return the first response and its broker, or None, with each error in `reasons`."""
        loop = asyncio.get_running_loop()
        left = self._who_to_ask()

        async def ask(broker: BrokerConnection) -> MetadataResponse:
            share_of_time = max(0.1, (deadline - loop.time()) / len(left))
            left.remove(broker)
            return await self._ask_one(broker, request, share_of_time)

        failed: dict[BrokerConnection, KcliError] = {}
        answered = await first_of(list(left), ask, failed, deadline - loop.time())
        if answered is None:
            LOG.warning("metadata: no broker answered: %s", "; ".join(dict.fromkeys(map(str, failed.values()))))
            self._pool.check()
            for broker, problem in failed.items():
                if not isinstance(problem, DeadlineExceeded):
                    reasons[repr(broker)] = problem
                # "connection refused" is more useful than the error of a last short wait
                reasons.setdefault(repr(broker), problem)
        return answered

    async def _ask_one(self, broker: BrokerConnection, request: MetadataRequest, seconds: float) -> MetadataResponse:
        """Return a broker's response. Raises _SentBack if the broker requires a rebootstrap (KIP-1102)."""
        try:
            async with asyncio.timeout(seconds):
                answer = await broker.ask(request, timeout=min(seconds, self._settings.request_timeout))
        except TimeoutError:
            raise DeadlineExceeded(f"{broker.name} did not answer within {seconds:.1f} s") from None
        code = codes.of(answer.error_code)
        if code is codes.REBOOTSTRAP_REQUIRED and broker.node_id >= 0:
            raise _SentBack
        if code:
            raise BrokerError(code, "metadata")
        return answer

    async def _rebootstrap(self) -> None:
        """Discard the brokers with their connections and resolved addresses. The trigger time starts again, so that an
        unavailable cluster is not bootstrapped over and over."""
        LOG.warning("metadata: forgetting the known brokers and using the bootstrap servers again")
        self._unanswered_since = asyncio.get_running_loop().time()
        self.topology.nodes = {}
        await self._pool.forget()

    def _who_to_ask(self) -> list[BrokerConnection]:
        known, seeds = self._pool.candidates(list(self.topology.nodes.values())), self._pool.seed_brokers()
        wrong = [
            attempt
            for _, attempt, problem in self._pool.failing(self.topology.nodes).values()
            if isinstance(problem, Misrouted)
        ]
        if max(wrong, default=-1e9) <= self._seeds_asked:
            return known + seeds
        self._seeds_asked = asyncio.get_running_loop().time()
        return seeds + known

    async def _take(self, answer: MetadataResponse, broker: BrokerConnection) -> set[str]:
        self._unanswered_since = None
        _, version = (await broker.versions()).get(METADATA, (0, 0))
        changed = self.topology.update(answer, reliable_epochs=version >= EPOCHS_SINCE)
        LOG.debug("metadata from %s: %d brokers, %d topics", broker.name, len(answer.brokers), len(answer.topics))
        if changed:
            LOG.info("metadata: leaders are new or changed: %s", ", ".join(sorted(changed)))
        if answer.brokers:
            self._pool.adopt(list(self.topology.nodes.values()))
            await self._pool.retire()
        return changed

    def _unreachable(self, reasons: dict[str, KcliError]) -> KcliError:
        problem = unreachable(reasons, self._pool.seeds)
        if self.topology.nodes and isinstance(problem, ConnectError):
            advertised = ", ".join(f"broker {n.id} advertises {n.host}:{n.port}" for n in self.topology.nodes.values())
            seeds = ", ".join(f"{host}:{port}" for host, port in self._pool.seeds)
            return ConnectError(f"{problem} (bootstrap {seeds} responded before; {advertised})")
        if self._settings.hint and isinstance(problem, ConnectError):
            return ConnectError(f"{problem}; {self._settings.hint}")
        return problem

    async def close(self) -> None:
        """End requests in progress. Idempotent."""
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        tasks = list(self._refreshing.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class RefreshLimit:
    """Limits how often each topic is requested. Times are in seconds; the current time is an argument."""

    def __init__(self, base: float, maximum: float) -> None:
        self._base = base
        self._max = max(maximum, LEAST)
        self._last: dict[str, tuple[float, int]] = {}  # topic to (due, consecutive requests without news)

    def wait(self, topics: Collection[str], now: float) -> float:
        """Return how long to wait before requesting these topics; a topic that was never requested does not wait."""
        return max(0.0, min(self._last.get(topic, (now, 0))[0] - now for topic in topics or (BROKERS,)))

    def asked(self, topics: Collection[str], now: float, changed: Collection[str]) -> None:
        """Note a request for topics; `changed` are those with new metadata."""
        for topic in topics or (BROKERS,):
            due, in_vain = self._last.get(topic, (now, -1))
            in_vain = in_vain + 1 if topic not in changed and now - due <= self._max else 0
            self._last[topic] = (now + after(in_vain, self._base, self._max), in_vain)

    def forget(self, topic: str) -> None:
        """Drop a topic that is no longer in use."""
        self._last.pop(topic, None)


async def first_of(
    brokers: Sequence[BrokerConnection],
    ask: Callable[[BrokerConnection], Awaitable[R]],
    reasons: dict[BrokerConnection, KcliError],
    seconds: float,
) -> tuple[R, BrokerConnection] | None:
    """Return the first response and its broker; None without a response, with each broker's error in `reasons`.

    While a connected broker has not responded, no other is tried; all others are started within half of `seconds`.
    Raises a ConnectError that is not retriable, and any error of `ask` other than ConnectError, DeadlineExceeded and
    Closed.
    """
    waiting = list(reversed(brokers))
    head_start = min(HEAD_START, max(0.0, seconds) / 2 / max(1, len(waiting)))
    running: dict[asyncio.Task[R], BrokerConnection] = {}
    try:
        while waiting or running:
            patience = None
            if waiting:
                broker = waiting.pop()
                running[asyncio.ensure_future(_run(ask, broker))] = broker
                if waiting and not broker.connected:
                    patience = head_start
            done, _ = await asyncio.wait(running, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                broker = running.pop(task)
                try:
                    return task.result(), broker
                except (ConnectError, DeadlineExceeded, Closed) as problem:
                    if cannot_connect(problem):
                        raise
                    reasons[broker] = problem
    finally:
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
    return None


async def _run(ask: Callable[[BrokerConnection], Awaitable[R]], broker: BrokerConnection) -> R:
    return await ask(broker)
