"""`kcli lag` over time: --watch, assertions that have to hold for a while, record, --replay and --prometheus."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager, suppress

from kcli.cli.commands.lag.plan import Plan
from kcli.cli.commands.lag.report import complain_of, document_of, head_of
from kcli.cli.output.messages import complain
from kcli.cli.output.refreshes import News, Refreshes
from kcli.cli.runtime.connection import Connection
from kcli.cli.runtime.refresh import refreshes
from kcli.cli.runtime.signals import Stop
from kcli.cli.runtime.signals import run as run_loop
from kcli.errors import KcliError
from kcli.lag.figures import Breach
from kcli.lag.watch import DATED, LagSnapshot, Watch
from kcli.text.escape import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from kcli.cli.commands.lag.options import LagOptions
    from kcli.lag.formats.past import Past
    from kcli.lag.history import History
    from kcli.model import Cluster, TopicPartition

DONE, FAILED, BROKEN, LATE = 0, 1, 3, 4
KEPT_EVERY = 60.0
"""Seconds between two writes of what stands still, for the next watch."""


def run(options: LagOptions) -> int:
    """Run `kcli lag` with anything that takes more than one refresh."""
    plan = Plan(options)
    return run_loop(lambda stop: _run(plan, stop))


async def _run(plan: Plan, stop: Stop) -> int:
    if plan.replay is not None:
        from kcli.cli.commands.lag.replay import replayed, write_page

        if plan.html is not None:
            return await write_page(plan, plan.replay, plan.html)
        return await _judge(plan, stop, replayed(plan, plan.replay))
    from kcli.client import Client

    async with Client(Connection(plan.options).client()) as client, _memory(plan, client.cluster) as memory:
        if plan.prometheus is not None:
            from kcli.cli.commands.lag.prometheus import serve

            return await serve(plan, stop, lambda lost: _snapshots(plan, stop, client.cluster, memory, lost))
        if plan.record:
            return await _record(plan, _snapshots(plan, stop, client.cluster, memory))
        return await _judge(plan, stop, _snapshots(plan, stop, client.cluster, memory))


class Memory:
    """The history of a watch, and the `past` of its cluster, where partitions that stand still are kept."""

    def __init__(self, history: History, past: Past | None) -> None:
        self.history = history
        self._past = past
        self._due = 0.0
        self._watched: dict[str, set[TopicPartition]] = {}

    def add(self, snapshot: LagSnapshot) -> None:
        if not self._due - KEPT_EVERY <= snapshot.time < self._due:  # the clock may have been set back
            self._due = snapshot.time + KEPT_EVERY
            self.keep()

    def keep(self) -> None:
        """A file that cannot be written is reported once."""
        if self._past is None:
            return
        for group, places in self.history.watched.items():
            self._watched.setdefault(group, set()).update(places)
        try:
            self._past.stand_for(self._watched, self.history.standstills())
        except OSError as problem:
            self._past = None
            complain(f"the next watch will not detect stuck partitions at once: {problem.filename}: {problem.strerror}")


@asynccontextmanager
async def _memory(plan: Plan, cluster: Cluster) -> AsyncIterator[Memory]:
    """What a watch knows from the previous one and keeps for the next; recordings and assertions keep nothing."""
    history, past = plan.history(), None
    if plan.watch and not plan.record:
        from kcli.lag.formats.past import recall

        with suppress(KcliError):  # the first refresh reports it
            past = await recall(cluster, history)
    memory = Memory(history, past)
    try:
        yield memory
    finally:
        memory.keep()


def watch_of(plan: Plan, cluster: Cluster, history: History) -> Watch:
    options = plan.options
    return Watch(
        cluster,
        plan.groups,
        history,
        states=options.states,
        topics=plan.topics,
        isolation=options.isolation_level,
        exact=plan.exact or plan.watch,
        most=None if plan.exact else DATED,
        own=options.internal,
    )


def _snapshots(
    plan: Plan, stop: Stop, cluster: Cluster, memory: Memory, lost: Callable[[], None] = lambda: None
) -> AsyncIterator[LagSnapshot]:
    """Snapshot after snapshot. An assertion without a --timeout rests on every one."""
    watch = watch_of(plan, cluster, memory.history)

    async def look() -> LagSnapshot:
        snapshot = await watch.refresh()
        memory.add(snapshot)
        return snapshot

    return refreshes(
        look,
        stop,
        interval=plan.interval,
        times=plan.looks,
        timeout=plan.timeout,
        insists=plan.assertion is not None and plan.timeout is None,
        lost=lost,
    )


async def _record(plan: Plan, snapshots: AsyncIterator[LagSnapshot]) -> int:
    """Print the samples, a line a refresh; a failed refresh does not end the recording."""
    from kcli.lag.formats.recording import line

    news = News()
    async for snapshot in snapshots:
        complain_of(plan, snapshot, news)
        put(line(snapshot.time, snapshot.snapshot))
        sys.stdout.flush()
    return DONE


async def _judge(plan: Plan, stop: Stop, snapshots: AsyncIterator[LagSnapshot]) -> int:
    """Show each refresh of a watch, or the last of an assertion; the exit code."""
    shown, news = Refreshes(plan.format, drawn=plan.watch), News()
    began: float | None = None
    code = DONE
    why: list[Breach] = []
    last: LagSnapshot | None = None
    with shown:
        async for snapshot in snapshots:
            last = snapshot
            began = snapshot.time if began is None else began
            complain_of(plan, snapshot, news)
            why = [] if plan.assertion is None else plan.assertion.broken(snapshot)
            if plan.watch and not plan.options.silent:
                shown.show(document_of(plan, snapshot, why), head_of(snapshot))
            if plan.assertion is None:
                code = FAILED if unread(snapshot) else DONE
                continue
            kept = plan.assertion.kept(snapshot)
            code = DONE if kept else BROKEN if why else FAILED if unread(snapshot) else LATE
            late = plan.timeout is not None and snapshot.time - began >= plan.timeout
            if kept or (code != LATE and plan.timeout is None) or late:
                code = LATE if late and not kept else code
                for sentence in (*plan.assertion.unread(snapshot), *(breach.text for breach in why)):
                    complain(sentence)
                break
        else:
            if plan.assertion is not None and plan.replay is None and (last is None or plan.looks is None):
                code = LATE  # the snapshots ended without an answer
    if last is None and plan.replay is not None and not stop.asked:
        raise KcliError(f"--replay {plan.replay}: the recording has no refresh")
    if last is not None and not plan.watch and not plan.options.silent:
        if code == LATE and not why:
            why = [Breach(limit=f"timeout {plan.timeout or 0:g}s", text="the assertion has not held for long enough")]
        shown.show(document_of(plan, last, why), "")
    if stop.asked and plan.assertion is not None:
        return 130
    return DONE if stop.asked else code


def unread(snapshot: LagSnapshot) -> bool:
    """Whether something of what was asked for could not be read."""
    return bool(snapshot.failed or snapshot.brokers or any(group.total.unreadable for group in snapshot.groups))
