"""The engine of a consumer: the cursors, a fetcher per broker, and the look-ups of positions and leaders.

An event only wakes a task, which clears it and then reads the whole state. Assignments change in one synchronous block,
so nothing can run in between.
"""

from __future__ import annotations

import asyncio
import math

from kcli.consumer.fetch.cursor import FAILED, Cursor
from kcli.consumer.fetch.fetcher import Fetcher
from kcli.consumer.fetch.positions import Positions
from kcli.grammar.bound import Bound
from kcli.metrics.observer import ConsumerObserver
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from kcli.consumer.fetch.engine import Stored
    from kcli.errors import KcliError
    from kcli.model import Cluster, TopicPartition
    from kcli.settings import ConsumerSettings


LOG = Log("consumer.fetch")
AGAIN = 1.0  # seconds until the error of a partition is returned again


class Work:
    """The work of a fetcher: the `due` cursors, when the next one is due (loop time, or None), and the buffered bytes
    of partitions that are not paused."""

    __slots__ = ("again", "due", "held")

    def __init__(self) -> None:
        self.due: list[Cursor] = []
        self.again: float | None = None
        self.held = 0

    def add(self, cursor: Cursor, now: float) -> None:
        if cursor.chunks and not cursor.paused:
            self.held += cursor.buffered
        if cursor.fetchable:
            if cursor.retry_at <= now:
                self.due.append(cursor)
            else:
                self.again = cursor.retry_at if self.again is None else min(self.again, cursor.retry_at)


class Reader:
    """`stored` fetches a group's commits; None without a group. `arrived` is set when a poll may have records.
    `replica_holds`: seconds for which a leader's preferred replica is used."""

    def __init__(
        self,
        cluster: Cluster,
        settings: ConsumerSettings,
        *,
        rack: str = "",
        replica_holds: float = 300.0,
        observer: ConsumerObserver | None = None,
    ) -> None:
        self.cluster = cluster
        self.settings = settings
        self.observer = observer or ConsumerObserver()
        self.rack = rack
        self.replica_holds = replica_holds
        self.cursors: dict[TopicPartition, Cursor] = {}
        self.paused_topics: set[str] = set()  # kept by name, because it also applies to later partitions
        self.fetchers: dict[int, Fetcher] = {}
        self.positions = Positions(self)
        self.arrived = asyncio.Event()
        self.stored: Stored | None = None
        self.on_recreated: Callable[[TopicPartition], bool] | None = None  # forgets what was read of a given partition
        self.excused_until = 0.0  # loop time until which temporary errors do not fail partitions
        self.failure: BaseException | None = None
        self.notice: Callable[[str], None] | None = None
        self.closed = False
        self._homes: dict[int, list[Cursor]] = {}  # cursors of each broker; -1: of unknown ones
        self._leaders = -1  # version of the leaders on which `_homes` is based
        self._settled_until = 0.0  # loop time when the next preferred replica expires
        self._tasks: dict[asyncio.Task[None], None] = {}  # an ordered set, so that a run can be repeated

    # -- assignment -------------------------------------------------------------------------------------------------

    def add(self, starts: Mapping[TopicPartition, Bound]) -> list[Cursor]:
        """Own these, too. A partition that is already owned starts again, unpaused unless its topic is paused."""
        cursors = [Cursor(at, start, self.settings.partition_max_bytes) for at, start in starts.items()]
        for cursor in cursors:
            cursor.paused = cursor.at.topic in self.paused_topics
            self.cursors[cursor.at] = cursor
        self.changed()
        return cursors

    def remove(self, ats: Iterable[TopicPartition]) -> None:
        """Stop owning these: their chunks and responses in flight are discarded."""
        for at in ats:
            self.cursors.pop(at, None)
        self.changed()

    def changed(self) -> None:
        """Wake all tasks that have work after cursors or leaders changed."""
        if self.closed:
            return
        if not self._tasks and self.cursors:
            self.run(self.positions.run())
        self.arrived.set()
        self._settle(asyncio.get_running_loop().time())

    def _settle(self, now: float) -> None:
        """Find the broker of each cursor, and wake the fetchers with work and the look-ups. A fetcher that wakes looks
        only at its own cursors; otherwise each round would cost brokers times partitions."""
        self.positions.wake.set()
        self._leaders, self._settled_until = self.cluster.leaders_version(), math.inf
        self._homes = {}
        for cursor in self.cursors.values():
            node = self.node_of(cursor, now)
            if cursor.replica >= 0:
                self._settled_until = min(self._settled_until, cursor.replica_until)
            self._homes.setdefault(node, []).append(cursor)
        for node in self._homes:
            if node >= 0 and node not in self.fetchers:
                fetcher = self.fetchers[node] = Fetcher(self, node)
                self.run(fetcher.run())
        for node, fetcher in self.fetchers.items():
            work = self._work_of(node, now)
            self._holds(fetcher, work.held)
            if not fetcher.idle or (work.due and not fetcher.full) or work.again is not None:
                fetcher.wake.set()

    def moved(self, cursors: Mapping[Cursor, int]) -> None:
        """Wake fetchers that have work after these positions moved and these bytes of each were returned. Like
        `changed`, at a cost independent of the number of cursors."""
        now = asyncio.get_running_loop().time()
        if self._unsettled(now):
            self.changed()
            return
        for cursor, size in cursors.items():
            fetcher = self.fetchers.get(self.node_of(cursor, now))
            if fetcher is None:  # its leader is being looked up
                continue
            was_full = fetcher.full
            self._holds(fetcher, fetcher.held - size)
            if not fetcher.full and (was_full or cursor.fetchable):
                fetcher.wake.set()

    def _unsettled(self, now: float) -> bool:
        """Whether cursors may have moved to other brokers."""
        return self.cluster.leaders_version() != self._leaders or now >= self._settled_until

    def _work_of(self, node: int, now: float) -> Work:
        work = Work()
        for cursor in self._homes.get(node, ()):
            work.add(cursor, now)
        return work

    def node_of(self, cursor: Cursor, now: float) -> int:
        """Return the broker to fetch a partition from: the preferred replica while it is valid, else the leader; -1 if
        unknown. Also notes a new leader epoch."""
        epoch = self.cluster.leader_epoch(cursor.at)
        if epoch > cursor.leader_epoch:
            cursor.validate(epoch)
        if cursor.replica >= 0:
            if now < cursor.replica_until:
                return cursor.replica
            cursor.replica = -1
        return self.cluster.leader_id(cursor.at)

    def work(self, node: int, now: float) -> tuple[list[Cursor], float | None]:
        """Return the cursors to fetch from `node` now, and the latest time of the next check.

        None while the node's buffered bytes fill half its share of the buffer or a whole fetch: a fetch without the
        fast partitions would wait at the broker for the slow ones. A paused partition's bytes do not count, so it
        blocks no other. The first fetcher to notice that leaders may have changed wakes the others.
        """
        if self._unsettled(now):
            self._settle(now)
        work, fetcher = self._work_of(node, now), self.fetchers[node]
        self._holds(fetcher, work.held)
        return [] if fetcher.full else work.due, work.again

    def _holds(self, fetcher: Fetcher, size: int) -> None:
        """Note the buffered bytes of a fetcher's broker."""
        fetcher.held, fetcher.full = size, size > min(self.share // 2, self.settings.partition_max_bytes)

    @property
    def share(self) -> int:
        """A fetcher's share of the buffer, in bytes."""
        return self.settings.buffer_bytes // max(len(self.fetchers), 1)

    @property
    def fetch_bytes(self) -> int:
        """Bytes of one fetch. Several fetchers share them, because each may hold a few responses in memory, but a
        partition always gets its own limit."""
        most = self.settings.fetch_max_bytes
        return max(most // max(len(self.fetchers), 1), min(self.settings.partition_max_bytes, most))

    def look_up(self) -> None:
        """Look up an unknown position."""
        self.positions.wake.set()

    def truncated(self, cursor: Cursor, end: int, end_epoch: int) -> None:
        """The leader's log ends epoch `end_epoch` at `end`, before the position."""
        self.positions.truncated(cursor, end, end_epoch)

    def say(self, text: str) -> None:
        """Report something that the user should know but is not an error."""
        LOG.warning("%s", text)
        if self.notice is not None:
            self.notice(text)

    def fail(self, cursor: Cursor, error: KcliError) -> None:
        LOG.warning("%s[%d]: not read any further: %s", *cursor.at, error)
        cursor.fail(error)
        self.arrived.set()

    def fail_again(self, cursor: Cursor, error: KcliError) -> None:
        """Return the error of a partition again each second until the program seeks, pauses or drops the partition. A
        partition with an end has ended with its error."""
        if cursor.end is not None:
            return
        generation = cursor.generation

        def again() -> None:
            mine = self.cursors.get(cursor.at) is cursor and not self.closed
            if mine and cursor.state == FAILED and cursor.generation == generation and cursor.error is None:
                cursor.error = error.with_traceback(None)
                self.arrived.set()

        asyncio.get_running_loop().call_later(AGAIN, again)

    def patient(self, cursor: Cursor, now: float) -> bool:
        """Whether a temporary error of a partition is retried: for two request timeouts, and while the client's logins
        fail (limited by `Consumer.login_failed`)."""
        since = now if cursor.trouble_since is None else cursor.trouble_since
        return now - since <= 2 * self.settings.request_timeout or now < self.excused_until

    def recreated(self, cursor: Cursor, error: KcliError) -> None:
        """Handle a recreated topic, in which the position means nothing: a partition assigned by the group restarts by
        the reset policy; any other one fails."""
        at, reset = cursor.at, self.settings.reset
        if self.on_recreated is None or reset == "none" or not self.on_recreated(at):
            self.fail(cursor, error)
            return
        cursor.seek(Bound(reset))
        self.look_up()
        self.say(f"{error}; continuing at the {'start' if reset == 'earliest' else 'end'} of the new one ({reset})")

    # -- tasks ------------------------------------------------------------------------------------------------------

    def run(self, work: Awaitable[None]) -> None:
        """Run a task. If it fails the consumer fails, so that no poll waits forever."""
        task = asyncio.ensure_future(work)
        self._tasks[task] = None
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and task.exception() is not None and self.failure is None:
            self.failure = task.exception()
            self.arrived.set()

    async def close(self) -> None:
        """End all tasks, and the fetch sessions on brokers if that takes no time."""
        self.closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.cursors.clear()
        self.arrived.set()
