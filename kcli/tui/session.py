"""What the screens know of the outside: snapshots that arrive, and questions that are answered.

A session samples lag on its own beat, whatever the screens do, and posts each snapshot. Questions (`ask`) are
coroutines over a client, run on the client thread. `LiveSession` is a cluster, `replay.ReplaySession` a recording.
"""

from __future__ import annotations

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import Context
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual.message import Message

from kcli.admin.cluster.brokers import fenced_brokers
from kcli.admin.cluster.cluster import cluster_id
from kcli.client import Client
from kcli.errors import KcliError, UsageError
from kcli.lag.events import Event
from kcli.lag.history import History
from kcli.lag.watch import DATED, LagSnapshot, Watch, pause
from kcli.model import TopicPartition
from kcli.settings import ClientSettings
from kcli.tui.alerts.incidents import Inspection
from kcli.tui.beat.gc_tuning import GcTuning, Pace
from kcli.tui.beat.kept import Kept
from kcli.tui.messages import Connected, Inspected, Noted, SnapshotArrived, SnapshotFailed, Unseen
from kcli.tui.text.printable import quoted, with_each
from kcli.tui.trails import Trails

if TYPE_CHECKING:
    from kcli.admin.topics.topics import Topic
    from kcli.lag.formats.past import Past
    from kcli.model import Cluster
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.registry.settings import RegistrySettings

T = TypeVar("T")
Post = Callable[[Message], object]

NO_REGISTRY = "no schema registry is named: add schema.registry.url to the profile, or kcli tui --schema-registry URL"
WINDOWS = (15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0)
"""What rates can be taken over, in seconds."""


class ClientThread:
    """Started by `start`, ended by `stop`, which cancels what still runs."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._turn, name="kcli-client", daemon=True)
        self._ended = False

    def start(self) -> None:
        """Begin to turn."""
        self._thread.start()

    def _turn(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop().run_forever()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, awaited over there. Raises KcliError after `stop`: no loop would ever run it."""
        if self._ended:
            work.close()
            raise KcliError("the session is closed")
        return await asyncio.wrap_future(Context().run(asyncio.run_coroutine_threadsafe, work, self._loop))

    def call(self, what: Callable[[], object]) -> None:
        """Have `what` done over there, soon."""
        if not self._ended:
            Context().run(self._loop.call_soon_threadsafe, what)

    async def stop(self) -> None:
        """End the loop; its tasks are cancelled first."""
        if self._thread.is_alive() and not self._ended:
            self._ended = True
            self._loop.call_soon_threadsafe(self._loop.stop)
            await asyncio.to_thread(self._thread.join, 10.0)
        elif not self._ended:
            self._ended = True
            self._loop.close()  # it never turned


class Session(ABC):
    """`name` is the profile or the servers; `aim` what a kcli command says to mean the same cluster, and
    `registry_option` besides it to mean the same schema registry; `guard` is "", "protected" or "read_only";
    `interval` and `window`, which rates are taken over, are in seconds; a refresh that costs much stretches `interval`
    by the `pace`. `hurried` counts how often one was wanted at once. Of what is not live `word` is what the head says,
    and `lacks` begins the sentence about what it does not hold. `waits` is in the head until the first snapshot."""

    name: str = ""
    aim: str = ""
    guard: str = ""
    bootstrap: str = ""
    registry_option: str = ""
    registry_name: str = ""
    """What the journal calls the schema registry."""
    interval: float = 5.0
    window: float = 60.0
    live: bool = True
    word: str = ""
    lacks: str = ""
    waits: str = "connecting …"
    guarded_by_profile: bool = True
    has_registry: bool = False
    remembers: bool = False
    recalls: bool = False
    isolation: str = "read_committed"
    """The isolation level at which pages read records."""

    def __init__(self) -> None:
        self.paused = False
        self.hurried = 0
        self.pace = Pace()
        self.trails = Trails()
        self._post: Post = lambda message: None

    def clock(self) -> float:
        """What time it is where the data come from, in seconds since the epoch."""
        return time.time()

    @abstractmethod
    async def open(self, post: Post) -> None:
        """Begin to sample; what comes of it is posted. Returns at once."""

    @abstractmethod
    async def close(self) -> None:
        """End everything."""

    @property
    def beat(self) -> float:
        """Seconds from one refresh of the groups to the next."""
        return self.pace.interval(self.interval)

    def making(self) -> AbstractContextManager[None]:
        """While an answer with many values is made, on the thread that makes it."""
        return nullcontext()

    def free(self, values: list[Any]) -> None:
        """Let go of the values of an answer that another one replaced. The list is the session's from now on."""
        values.clear()

    @abstractmethod
    def refresh_now(self) -> None:
        """Do not wait for the next beat."""

    @abstractmethod
    def rate_over(self, window: float) -> None:
        """Take rates over that many seconds."""

    def widen(self, by: int) -> None:
        """The next longer (1) or shorter (-1) of the windows."""
        near = min(range(len(WINDOWS)), key=lambda n: abs(WINDOWS[n] - self.window))
        self.rate_over(WINDOWS[max(0, min(near + by, len(WINDOWS) - 1))])

    @abstractmethod
    async def ask(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """What `work` makes of the cluster. Raises KcliError; UsageError where there is no cluster (a replay)."""

    async def ask_registry(self, work: Callable[[OpenRegistry], Awaitable[T]]) -> T:
        """What `work` makes of the schema registry. Raises KcliError; UsageError where none is configured."""
        raise UsageError(NO_REGISTRY)

    @abstractmethod
    async def change(self, work: Callable[[Client], Awaitable[T]], *, confirmed: str = "") -> T:
        """As `ask`, for what changes the cluster. `confirmed` is the typed name of the profile: with it
        a protected profile lets through what deletes or alters. Raises UsageError where nothing may be changed."""

    async def change_registry(self, work: Callable[[OpenRegistry], Awaitable[T]], *, confirmed: str = "") -> T:
        """As `change`, of the schema registry."""
        return await self.ask_registry(work)

    def aimed(self, command: str) -> str:
        """A kcli command as it has to be pasted elsewhere, to reach this cluster and no other."""
        return with_each(command, self.aim) if self.aim and command.startswith("kcli ") else command

    def command(self, words: str, narrowed: str) -> str:
        """The kcli command that shows the same as a page: of this cluster, with the page's filter as a pipe."""
        return self.aimed(words) + narrowed

    def refusal(self, what: str) -> str:
        """Why an action cannot be begun here, in a sentence; "" when it can. `what` is as in "producing"."""
        if not self.live:
            return f"This is a recording: {what} needs a cluster."
        if self.guard == "read_only":
            whose = f"Profile {self.name}" if self.guarded_by_profile else "This session"
            return f"{whose} is read-only: {what} would change the cluster."
        return ""

    @abstractmethod
    def note(self, event: Event) -> None:
        """Write into the timeline of a group what was done to it here."""

    @abstractmethod
    async def lags(self, group: str, wanted: list[TopicPartition], moments: list[float]) -> list[list[int | None]]:
        """The lag of partitions at these times (seconds since the epoch), for sparklines and plots."""

    @abstractmethod
    async def events(self, group: str) -> list[Event]:
        """What happened to a group, oldest first."""


class LiveSession(Session):
    """A cluster."""

    dated = DATED
    _brokers = 0, 0  # how many there are, and how many of them do not answer
    _stood = False  # whether the first refresh knew, from the file of the cluster, what stood still before
    _trouble: tuple[KcliError, float] | None = None  # why the last refresh failed, and when the next one is

    def __init__(
        self,
        settings: ClientSettings,
        *,
        name: str = "",
        aim: str = "",
        interval: float = 5.0,
        window: float = 60.0,
        registry: RegistrySettings | None = None,
        registry_option: str = "",
        isolation: str = "read_committed",
        remembers: bool = False,
    ) -> None:
        """`remembers`: what is seen is kept in a file of the cluster, and what was seen in the last day is known. With
        `recalls` alone only the second: groups are judged as in a dashboard of that cluster."""
        super().__init__()
        self.isolation, self.remembers, self.recalls = isolation, remembers, remembers
        self._past: Past | None = None
        self._before: dict[str, list[Event]] = {}  # what happened to groups before this session
        self._notes: list[Event] = []  # what was done here, for the next snapshot
        self._unkept: list[Event] = []  # of snapshots, until the file of the cluster has them
        self.settings = settings
        self.has_registry = registry is not None
        self.registry_option = registry_option
        self.registry_name = registry.name if registry is not None else ""
        self._registry_settings = registry
        self._registry: OpenRegistry | None = None
        self.bootstrap = ",".join(f"{host}:{port}" for host, port in settings.bootstrap)
        self.name = name or settings.profile or self.bootstrap
        self.aim = aim or f"-b {quoted(self.bootstrap)}"
        self.guard, self.guarded_by_profile = settings.guard, bool(settings.profile)
        self.interval = interval
        self.window = window
        self._thread = ClientThread()
        self._gc = GcTuning()
        self._history = History(window=window)
        self._client: Client | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._cluster_id: str | None = None
        self._known: set[int] = set()  # every broker that was ever seen: Metadata drops those that die
        self._now = asyncio.Event()
        self._opened = asyncio.Event()
        self.kept = Kept()
        self._latest: LagSnapshot | None = None

    def mute(self) -> None:
        """The screens show the past: sentences are posted, and snapshots for the alerts."""
        self._post = Muted(self._post, lost=self._trouble is not None, down=self._brokers[1])

    def resume(self, post: Post) -> None:
        """Post again, at once what was seen last."""
        self._post = post
        if self._cluster_id is not None:
            post(Connected(self._cluster_id, *self._brokers))
        if self._latest is not None:
            post(SnapshotArrived(self._latest, self.trails))
        if self._trouble is not None:
            post(SnapshotFailed(*self._trouble))

    async def open(self, post: Post) -> None:
        self._post = post
        self._gc.begin()
        self._thread.start()
        await self._thread.run(self._open())
        self._opened.set()

    async def _open(self) -> None:
        from kcli.client import Client

        self._client = Client(self.settings)
        inspection = Inspection(lambda: self.interval, self._silent, lambda found: self._post(Inspected(found)))
        inspecting = inspection.run(self._client, lambda: self.paused or self._cluster_id is None)
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._sample(self._client)), loop.create_task(inspecting)]

    async def _silent(self, cluster: Cluster, topics: Sequence[Topic]) -> dict[int, str]:
        """The brokers that do not answer, or are not in the cluster any more, with why. Topics name brokers, too, that
        this session never saw alive."""
        there = {node.id for node in await cluster.nodes()}
        self._known |= {broker for topic in topics for part in topic.partitions for broker in part.replicas}
        failed = self._latest.brokers if self._latest is not None else {}
        silent = {number: f"does not answer ({problem})" for number, problem in failed.items()}
        return dict.fromkeys(self._known - there, "left the cluster") | silent

    async def _sample(self, client: Client) -> None:
        """Refresh, post, wait; a refresh that fails is reported and tried again."""
        watch = Watch(client.cluster, [], self._history, exact=True, back=True, most=self.dated)
        introduced, seen = False, LagSnapshot()
        while True:
            self._now.clear()
            rest = pause(self.interval)
            try:
                if not self.paused:
                    if not introduced:
                        await self._introduce(client)
                        introduced = True
                        await self._recall()
                    with self._gc.making(), self.pace.measured():
                        snapshot = seen = self._with_notes(still_there(await watch.refresh(), seen))
                        self.trails.add(snapshot)
                        self._latest, self._trouble = snapshot, None
                    rest = pause(self.beat)
                    await self._count(client, snapshot)
                    self._post(SnapshotArrived(snapshot, self.trails))
                    if self.remembers:
                        await self._remember(snapshot)
                    with self._gc.making():
                        self.kept.add(snapshot.time, snapshot.snapshot)
            except KcliError as problem:
                introduced = False
                self._fail(problem, time.time() + rest)
            except Exception as bug:  # noqa: BLE001 - else the refreshes would end, and a broker would seem to be slow
                self._fail(KcliError(f"an error of kcli's own: {bug!r}"), time.time() + rest)
            try:
                async with asyncio.timeout(rest):
                    await self._now.wait()
            except TimeoutError:
                pass  # the beat

    async def _recall(self) -> None:
        """Before the first refresh: what stood still when this cluster was last watched."""
        if self.recalls and self._latest is None and self._cluster_id is not None:
            from kcli.lag.formats.past import Past

            stood = await asyncio.to_thread(Past(self._cluster_id).stood)
            self._stood = stood is not None
            self._history.go_on(stood or {})

    async def _remember(self, snapshot: LagSnapshot) -> None:
        """Keep a snapshot in the file of this cluster; at the first one, take from the file what was before. A file
        that fails is reported once, and no history is kept."""
        try:
            if self._past is None and self._cluster_id is not None:
                from kcli.lag.formats.past import Past

                self._past = Past(self._cluster_id)
                found = await asyncio.to_thread(self._past.open, snapshot.time)
                self.trails.begin(found.points, found.events, stood=self._stood)
                for event in found.events:
                    self._before.setdefault(event.group, []).append(event)
                self._post(SnapshotArrived(snapshot, self.trails))
            unkept, self._unkept = self._unkept, []
            if self._past is not None:
                self._past.keep(unkept[: len(unkept) - len(snapshot.events)])  # of refreshes that failed half-way
                if self._past.add(snapshot):
                    with self._gc.making():
                        self._past.stand(self._history.standstills())
        except OSError as problem:
            self.remembers = False
            self._post(Noted(f"No history is kept: {problem.filename or 'its file'}: {problem.strerror}"))

    async def _introduce(self, client: Client) -> None:
        """Learn the id of the cluster, and which brokers are dead: Metadata does not list them. How many answer is
        unknown until the first refresh."""
        self._cluster_id = await cluster_id(client.cluster)
        self._known |= {node.id for node in await fenced_brokers(client.cluster)}
        self._post(Connected(self._cluster_id, *self._brokers))

    async def _count(self, client: Client, snapshot: LagSnapshot) -> None:
        """Post how many brokers there are now, and how many of them do not answer."""
        there = {node.id for node in await client.cluster.nodes()}
        self._known |= there
        down = self._known - (there - snapshot.brokers.keys())
        self._brokers = len(self._known), len(down)
        self._post(Connected(self._cluster_id, *self._brokers))

    def _fail(self, problem: KcliError, again: float) -> None:
        self._trouble = problem, again
        self._post(SnapshotFailed(problem, again))

    def making(self) -> AbstractContextManager[None]:
        return self._gc.making()

    def free(self, values: list[Any]) -> None:
        self._thread.call(partial(self._gc.free, values))

    def rate_over(self, window: float) -> None:
        self.window = window
        self._thread.call(lambda: self._history.rate_over(window))
        self.refresh_now()

    def refresh_now(self) -> None:
        self.hurried += 1
        self._thread.call(self._now.set)

    async def ask(self, work: Callable[[Client], Awaitable[T]]) -> T:
        async def over_there() -> T:
            if self._client is None:
                raise KcliError("the session is closed")
            return await work(self._client)

        await self._opened.wait()  # a screen may ask before there is anybody to ask
        return await self._thread.run(over_there())

    async def ask_registry(self, work: Callable[[OpenRegistry], Awaitable[T]]) -> T:
        named = self._registry_settings
        if named is None:
            raise UsageError(NO_REGISTRY)

        async def over_there() -> T:
            if self._registry is None:
                from kcli.registry.listing.opened import OpenRegistry

                self._registry = OpenRegistry(named, guard=self.guard, profile=self.settings.profile)
            return await work(self._registry)

        await self._opened.wait()
        return await self._thread.run(over_there())

    async def change(self, work: Callable[[Client], Awaitable[T]], *, confirmed: str = "") -> T:
        from kcli.client import Client

        if not self.guard or (self.guard == "protected" and confirmed != self.name):
            return await self.ask(work)
        if self.guard != "protected":
            raise UsageError(self.refusal("this"))

        async def over_there() -> T:
            async with Client(self.settings.replace(guard="")) as client:
                return await work(client)

        return await self._thread.run(over_there())

    async def change_registry(self, work: Callable[[OpenRegistry], Awaitable[T]], *, confirmed: str = "") -> T:
        named = self._registry_settings
        if self.guard == "read_only":
            raise UsageError(self.refusal("this"))
        if named is None or self.guard != "protected" or confirmed != self.name:
            return await self.ask_registry(work)
        from kcli.registry.listing.opened import OpenRegistry

        async def over_there() -> T:
            registry = OpenRegistry(named)
            try:
                return await work(registry)
            finally:
                await registry.close()

        return await self._thread.run(over_there())

    async def lags(self, group: str, wanted: list[TopicPartition], moments: list[float]) -> list[list[int | None]]:
        async def over_there() -> list[list[int | None]]:
            return [self._history.lags(group, at, moments) for at in wanted]

        return await self._thread.run(over_there())

    async def events(self, group: str) -> list[Event]:
        async def over_there() -> list[Event]:
            every = [*self._before.get(group, ()), *self._history.events_of(group)]
            return sorted(every, key=lambda event: event.time)

        return await self._thread.run(over_there())

    def note(self, event: Event) -> None:
        self._notes.append(event)
        self.refresh_now()

    def _with_notes(self, snapshot: LagSnapshot) -> LagSnapshot:
        """A snapshot with what was noted since the last one: trails and the file of the cluster take it from there."""
        notes, self._notes = self._notes, []
        for event in notes:
            self._before.setdefault(event.group, []).append(event)
        snapshot.events = [*snapshot.events, *notes]
        if self.remembers:
            self._unkept += snapshot.events
        return snapshot

    async def close(self) -> None:
        if self._client is not None:
            await self._thread.run(self._close())
        await self._thread.stop()
        self._gc.end()

    async def _close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._registry is not None:
            await self._registry.close()
        if self._past is not None:
            try:
                self._past.keep([*self._unkept, *self._notes])
                self._past.stand(self._history.standstills())
                self._past.close()
            except OSError as problem:
                self._post(Noted(f"The history lacks the last events: {problem.strerror}"))
        client, self._client = self._client, None
        if client is not None:
            await client.__aexit__(None, None, None)


def still_there(snapshot: LagSnapshot, before: LagSnapshot) -> LagSnapshot:
    """A snapshot with the groups that it misses only because their broker did not answer, as they were before. Raises
    KcliError when no broker answered at all: then there is nothing newer to be shown."""
    if snapshot.brokers and not snapshot.groups:
        raise next(iter(snapshot.brokers.values()))
    there = {group.described.group for group in snapshot.groups}
    missed = [group for group in before.groups if group.described.group not in there]
    snapshot.groups += [
        standing for standing in missed if snapshot.brokers or standing.described.group in snapshot.failed
    ]
    return snapshot


class NoCluster(UsageError):
    """Asked of a recording what only a cluster can answer."""

    def __init__(self) -> None:
        super().__init__("this is a recording: only what was recorded can be shown")


class Muted:
    """Called with what the session posts; `post` gets what is worth knowing. `lost`: the last refresh failed; `down`
    brokers did not answer."""

    def __init__(self, post: Callable[[Message], object], *, lost: bool, down: int) -> None:
        self._post, self._lost, self._down = post, lost, down

    def __call__(self, message: Message) -> None:
        if isinstance(message, SnapshotArrived):
            self._answered()
            self._post(Unseen(message.snapshot))
        elif isinstance(message, SnapshotFailed):
            if not self._lost:
                self._post(Noted(f"The live cluster cannot be refreshed: {message.problem}"))
            self._lost = True
        elif isinstance(message, Connected):
            self._count(message)
        elif isinstance(message, (Noted, Unseen, Inspected)):
            self._post(message)

    def _answered(self) -> None:
        if self._lost:
            self._post(Noted("The live cluster is refreshed again."))
        self._lost = False

    def _count(self, message: Connected) -> None:
        if message.down != self._down:
            up = message.brokers - message.down
            self._post(Noted(f"Of the live cluster {up} of {message.brokers} brokers answer."))
        self._down = message.down
