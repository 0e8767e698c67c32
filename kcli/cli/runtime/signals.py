"""Running a command's coroutine, with Ctrl-C in two steps (D45).

The first SIGINT, SIGTERM or SIGHUP asks the work to end; the second SIGINT or SIGTERM ends the process at once. None
raises KeyboardInterrupt inside the engine: a signal is an event like any other. A second SIGHUP says nothing new: a
shell and the system each send one when a terminal goes. What ends a process whose loop does not turn: watchdog.py.
"""

from __future__ import annotations

import asyncio
import signal

from kcli.cli.output.messages import complain
from kcli.cli.output.text import partition_names
from kcli.errors import KcliError
from kcli.system.signals import ENDING, HANGUP, REQUESTS, heeded
from kcli.watchdog import end, interrupted, listen_plainly, turned, wake

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from typing import Any, TypeVar

    from kcli.model import Cluster

    T = TypeVar("T")
    from kcli.model import TopicPartition

INTERRUPTED = 130
PATIENCE = 3.0  # seconds: no module for outages before


def ended_by(number: int, code: int) -> int:
    """The exit code of work that a signal ended, if any did: the signal's own, 128 and its number, unless it failed.
    After Ctrl-C it is what the work says: 130, or 0 where nothing was left undone."""
    return 128 + number if number in REQUESTS and code in (0, INTERRUPTED) else code


class Interrupted(KcliError):
    """Ctrl-C ended the work before it was whole."""

    exit_code = INTERRUPTED


class Stop:
    """Whether we were asked to stop, and by which signal first. `last_words` runs before the second one ends the
    process."""

    def __init__(self) -> None:
        self.asked = False
        self.by = 0
        self._heard_of = 0  # signals that want the end at once the second time
        self.last_words: Callable[[], None] | None = None
        self._event: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def listen(self) -> None:
        """From now on the signals are ours. `add_signal_handler` would do the same and import inspect for it: 5 ms."""
        wake(self._event.get_loop())
        for number in heeded():
            signal.signal(number, self._heard)
        if interrupted():
            self._heard(signal.SIGINT)

    def _heard(self, number: int, *_: object) -> None:
        self.by = self.by or number
        self._heard_of += number != HANGUP
        if self._heard_of > 1:  # not by way of the loop, which may not turn any more
            self._end_now(128 + number)
        loop = self._event.get_loop()
        if not loop.is_closed():
            loop.call_soon_threadsafe(self.interrupt)

    def _end_now(self, code: int) -> None:
        try:
            if self.last_words is not None:
                self.last_words()
        finally:
            end(code)

    def interrupt(self) -> None:
        """A signal came, and the loop turns."""
        turned()
        self.asked = True
        if not self._event.done():
            self._event.set_result(None)

    async def unless(self, work: Coroutine[Any, Any, T], left: asyncio.Future[None] | None = None) -> T | None:
        """The result of `work`; None when we were asked to stop first, or `left` came first (the result is not wanted
        any more), after `work` was cancelled and has ended."""
        task = asyncio.ensure_future(work)
        ends = (task, self._event) if left is None else (task, self._event, left)
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        if not task.cancelled():
            return task.result()
        return None

    async def wait(self) -> None:
        """Until we were asked to stop."""
        await asyncio.wait((self._event,))

    async def until(self, task: asyncio.Future[Any]) -> None:
        """Wait until `task` is done or we were asked to stop; the task continues all the same."""
        await asyncio.wait((task, self._event), return_when=asyncio.FIRST_COMPLETED)


def run(command: Callable[[Stop], Awaitable[int]]) -> int:
    """Run one command to its exit code."""

    async def whole() -> int:
        stop = Stop()
        stop.listen()
        try:
            code = await command(stop)
        except Interrupted as interrupted:
            interrupted.exit_code = ended_by(stop.by, INTERRUPTED)
            raise
        return ended_by(stop.by, code)

    # not Python's own handler, else asyncio puts one of its own in place
    before = [(number, signal.getsignal(number)) for number in ENDING]
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return asyncio.run(whole())
    finally:
        for number, handler in before:
            signal.signal(number, handler or signal.SIG_DFL)


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of work that Ctrl-C cancels. Raises KeyboardInterrupt then."""
    try:
        listen_plainly()
    except KeyboardInterrupt:
        work.close()
        raise
    return asyncio.run(work)


def tell_outages(cluster: Cluster, *, quiet: bool) -> None:
    """From a while on, say on stderr which brokers cannot be reached, as long as this loop runs."""

    def begin() -> None:

        Outages(cluster).report()

    if not quiet:
        asyncio.get_running_loop().call_later(PATIENCE, begin)


class Listening:
    """Ctrl-C as an event for a part of a command's work: `with Listening() as stop`, inside of a running loop. The
    handlers that were there come back."""

    def __init__(self) -> None:
        self._stop = Stop()
        self._before = [(number, signal.getsignal(number)) for number in ENDING]

    def __enter__(self) -> Stop:
        self._stop.listen()
        return self._stop

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)


# Messages about a broker that is unreachable for a while: its address, the reason, that kcli keeps trying, and the
# end of the outage; about partitions that stay without a leader; and about a long throttle.


LONG = 3.0
"""Seconds without a connection or a leader before the message."""
LOOK = 1.0
RECENT = 10.0
"""Seconds without a connection attempt after which a broker's outage is no longer reported."""


class Outages:
    """`look` says what is new, and comes again."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._told: set[int] = set()
        self._leaderless: set[TopicPartition] = set()
        self._silent: set[int] = set()

    def report(self) -> None:
        loop = asyncio.get_running_loop()
        now, failing = loop.time(), self._cluster.failing()
        for node_id, (since, tried, problem) in sorted(failing.items()):
            if now - since >= LONG and now - tried <= RECENT and node_id not in self._told:
                self._told.add(node_id)
                complain(f"{problem}; retrying")
        for node_id in sorted(self._told - failing.keys()):
            self._told.discard(node_id)
            complain(f"broker {node_id} is back, or no longer needed")
        self._find_leaderless()
        silencing = self._cluster.silencing()
        for node_id in sorted(silencing.keys() - self._silent):
            complain(
                f"broker {node_id} requested a pause of {silencing[node_id]:,.0f} s (throttle_time_ms); kcli "
                f"tries again after a request timeout. To see quotas: kcli quotas list"
            )
        self._silent = set(silencing)
        loop.call_later(LOOK, self.report)

    def _find_leaderless(self) -> None:
        leaderless = self._cluster.leaderless()
        new = {at for at, seconds in leaderless.items() if seconds >= LONG} - self._leaderless
        if new:
            complain(f"{partition_names(new)} {'has' if len(new) == 1 else 'have'} no leader; retrying")
        back = self._leaderless - leaderless.keys()
        if back:
            complain(f"{partition_names(back)} {'has' if len(back) == 1 else 'have'} a leader again")
        self._leaderless = (self._leaderless | new) - back
