"""The connections of one broker: one per lane, opened on demand, closed when idle."""

from __future__ import annotations

import asyncio

from kcli.broker.connector import Opening
from kcli.errors import Closed, ConnectError, KcliError
from kcli.model import Lane
from kcli.tasks import retrieve, share
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.broker.connection.connection import Connection
    from kcli.settings import ClientSettings

LOG = Log("broker")
UNLIMITED = 1000
IDLE_CHECK = 5.0


class Lanes:
    """`open` are the established connections."""

    def __init__(self, name: str, opening: Opening, settings: ClientSettings) -> None:
        self._name = name
        self._opening = opening
        self._settings = settings
        self.open: dict[str, Connection] = {}
        self._under_way: dict[str, asyncio.Task[Connection]] = {}
        self._failures: dict[str, KcliError] = {}  # error of each lane's last attempt, if it failed
        self._idle_timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._moved = ""  # the reason, if only this address is no longer used

    def rename(self, name: str) -> None:
        """Set another name for messages."""
        self._name = name
        for connection in self.open.values():
            connection.name = name

    @property
    def connecting(self) -> bool:
        return bool(self._under_way)

    def failure(self, lane: str) -> KcliError | None:
        """Return the error of the last attempt to open the lane, None for success."""
        return self._failures.get(lane)

    def share_failure(self, lane: str, before: KcliError | None) -> None:
        """Raise the error of an attempt that failed while the caller waited: twenty callers of a dead address wait
        once, not twenty times. `before` is the `failure` at the start of the wait."""
        failure = self._failures.get(lane)
        if failure is not None and failure is not before:
            raise failure.with_traceback(None)

    async def connection(self, lane: str) -> Connection:
        """Return the lane's connection, opening it on first use. Concurrent callers share one attempt."""
        if self._closed:
            raise self._end()
        connection = self.open.get(lane)
        if connection is not None and connection.lost is None:
            return connection
        task = self._under_way.get(lane)
        if task is None:
            in_flight = self._settings.max_in_flight if lane == Lane.PRODUCE else UNLIMITED
            attempt = self._opening.connect(in_flight, self._lost)
            task = asyncio.get_running_loop().create_task(attempt, name=f"connect {self._name} {lane}")
            self._under_way[lane] = task
            task.add_done_callback(lambda done: self._opened(lane, done))
        try:
            return await share(task)
        except Closed:
            raise self._end() from None

    def _end(self) -> KcliError:
        return ConnectError(self._moved) if self._moved else Closed(f"the connections to {self._name} were closed")

    def _opened(self, lane: str, task: asyncio.Task[Connection]) -> None:
        del self._under_way[lane]
        retrieve(task)
        if task.cancelled():
            return
        if (problem := task.exception()) is not None:
            if isinstance(problem, KcliError):
                self._failures[lane] = problem
            return
        self._failures.pop(lane, None)
        connection = task.result()
        if self._closed:
            connection.close()
        elif connection.lost is None:
            self.open[lane] = connection
            self._watch_idle()

    def _lost(self, connection: Connection) -> None:
        for lane, opened in list(self.open.items()):
            if opened is connection:
                del self.open[lane]
                (LOG.debug if isinstance(connection.lost, Closed) else LOG.info)("%s", connection.lost)

    def _watch_idle(self) -> None:
        if self._idle_timer is None:
            loop = asyncio.get_running_loop()
            self._idle_timer = loop.call_later(min(IDLE_CHECK, self._settings.idle_timeout), self._check_idle)

    def _check_idle(self) -> None:
        self._idle_timer = None
        for connection in list(self.open.values()):
            if connection.idle_since(self._settings.idle_timeout):
                connection.close(ConnectError(f"the idle connection to {self._name} was closed"))  # not an error
        if self.open:
            self._watch_idle()

    async def close(self, *, moved: str = "") -> None:
        """Close every connection. Idempotent; never waits for the network. `moved` is the reason if only this address
        is no longer used."""
        if not self._closed:
            self._moved = moved
        self._closed = True
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
        under_way = list(self._under_way.values())
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        for connection in list(self.open.values()):
            connection.close(ConnectError(self._moved) if self._moved else None)
        await asyncio.sleep(0)  # lets the transports finish closing
