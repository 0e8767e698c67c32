"""Waiting for moves: how far they are, Ctrl-C, and what is left behind by neither.

Ctrl-C ends the waiting, not the moves: brokers continue. The throttle stays too, for without it they would take the
whole network; --on-interrupt changes that. A later `verify`, `cancel` or `throttle --remove` finds it.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Protocol, Self

from kcli.admin.configs import Resource
from kcli.admin.reassign.reassignments import about, alter_reassignments, list_reassignments, shares
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.backoff import Backoff, repeat
from kcli.cli.commands.reassign.throttling import clean
from kcli.cli.output.progress import Progress
from kcli.cli.output.tables.document import Document
from kcli.cli.parsing.groups import QuietOptions
from kcli.cli.runtime.answer import plural, say
from kcli.cli.runtime.signals import INTERRUPTED, Listening, Stop, ended_by
from kcli.errors import DeadlineExceeded, KcliError
from kcli.grammar.durations import seconds
from kcli.grammar.units import bytes_text
from kcli.model import Cluster, TopicPartition
from kcli.text.numbers import human_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Annotated, Literal

    import typer

    from kcli.admin.reassign.reassignments import Assignment


class MovingRow(Protocol):
    """What the rows of moves have in common."""

    new: list[int]
    result: str
    error: str | None


class WaitingOptions(QuietOptions):
    """Whether a command waits for what it moves."""

    wait: Annotated[bool, typer.Option("--wait", help="Wait until all moves are done, then remove the throttle.")] = (
        False
    )
    timeout: Annotated[
        str | None,
        typer.Option(
            "--timeout",
            metavar="DURATION",
            help="Wait up to this long until it is done (default: no limit), else exit 4.",
        ),
    ] = None

    @property
    def patience(self) -> float | None:
        """Seconds that --wait waits. Raises UsageError."""
        return seconds(self.timeout, "--timeout", None)


class WatchOptions(WaitingOptions):
    """How a command waits for moves, and what it does when that is interrupted."""

    on_interrupt: Annotated[
        Literal["keep", "unthrottle", "cancel"] | None,
        typer.Option("--on-interrupt", help="On Ctrl-C: continue throttled (default), unthrottled, or cancel."),
    ] = None


FIRST_PAUSE, LAST_PAUSE = 0.1, 1.0
PATIENCE = 5.0  # seconds until every broker knows what the controller says is done
SAID_EVERY = 10.0  # seconds, where no progress bar is shown


class Watch:
    """`with` it, the first Ctrl-C is an event; a second ends the process."""

    def __init__(self, cluster: Cluster, options: WatchOptions, *, keep_throttle: bool = False) -> None:
        self._cluster = cluster
        self._options = options
        self._keep_throttle = keep_throttle
        self._listening = Listening()
        self._stop: Stop = None  # type: ignore[assignment]  # `with` makes it
        self._late = self._waited = False
        self.throttled: dict[Resource, set[str]] = {}  # what was set meanwhile: a broker may not tell of it yet
        patience = options.patience
        self._give_up = None if patience is None else asyncio.get_running_loop().time() + patience

    def __enter__(self) -> Self:
        self._stop = self._listening.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.__exit__()

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C came."""
        return self._stop.asked

    async def until_done(self, targets: Assignment) -> bool:
        """Whether all of these are done; False after Ctrl-C and at --timeout."""
        self._waited = True
        loop = asyncio.get_running_loop()
        begun, reported, pause = loop.time(), loop.time(), FIRST_PAUSE
        bar: Progress | None = None
        whole = 0
        try:
            while True:
                moving = await list_reassignments(self._cluster, targets)
                if not moving:
                    return True
                left = sum(share.left for share in (await shares(self._cluster, moving)).values())
                if bar is None or left > whole:
                    whole = max(left, whole)
                    if bar is not None:
                        bar.close()
                    bar = Progress("moving", whole or 1, unit="bytes", hidden=self._options.quiet)
                bar.at(whole - left)
                if loop.time() - reported >= SAID_EVERY and not sys.stderr.isatty():
                    reported = loop.time()
                    self._say(len(moving), left, (whole - left) / (reported - begun))
                if self._give_up is not None and loop.time() >= self._give_up:
                    self._late = True
                    return False
                await self._stop.unless(asyncio.sleep(pause))
                if self._stop.asked:
                    return not await list_reassignments(self._cluster, targets)
                pause = min(pause * 1.5, LAST_PAUSE)
        finally:
            if bar is not None:
                bar.close()

    def _say(self, moving: int, left: int, rate: float) -> None:
        eta = f", {human_time(left / rate)} at {bytes_text(int(rate))}/s" if rate >= 1 else ""
        say(self._options, f"{plural(moving, 'partition')} moving, {bytes_text(left)} left{eta}")

    async def finish(
        self, document: Document, rows: Mapping[TopicPartition, MovingRow], topics: list[str] | None
    ) -> int | None:
        """What became of the rows, by the cluster; then the throttle. The exit code, if it is settled by a signal or
        --timeout."""
        await settle(self._cluster, document, rows, patience=PATIENCE if self._waited else 0.0)
        moving = [row for row in rows.values() if row.result == "moving"]
        if moving and self._stop.asked:
            await self._interrupted(document, rows, topics)
            return ended_by(self._stop.by, INTERRUPTED)
        if not self._keep_throttle:
            quiet = bool(moving)
            await clean(self._cluster, self._options, document, topics, quiet=quiet, known=self.throttled)
        if moving and self._late:
            late = DeadlineExceeded(
                f"{plural(len(moving), 'partition')} still moving after --timeout; the moves continue"
            )
            document.fail(late)
            return late.exit_code
        return None

    async def _interrupted(
        self, document: Document, rows: Mapping[TopicPartition, MovingRow], topics: list[str] | None
    ) -> None:
        what = self._options.on_interrupt or "keep"
        moving = {at: row for at, row in rows.items() if row.result == "moving"}
        if what == "cancel":
            for at, problem in (await alter_reassignments(self._cluster, dict.fromkeys(moving))).items():
                rows[at].result = "cancelled" if problem is None else "failed"
                if problem is not None:
                    document.fail(problem, about(at))
            await clean(self._cluster, self._options, document, topics, known=self.throttled)
            say(self._options, f"interrupted: {plural(len(moving), 'partition')} have their previous replicas")
            return
        if what == "unthrottle":
            await clean(self._cluster, self._options, document, topics, though_moving=True, known=self.throttled)
        say(
            self._options,
            f"interrupted: {plural(len(moving), 'partition')} still moving, with throttles unchanged. "
            "`kcli reassign verify --wait` waits and removes them; `kcli reassign cancel --all-topics --execute` "
            "cancels the moves",
        )


async def settle(
    cluster: Cluster, document: Document, rows: Mapping[TopicPartition, MovingRow], *, patience: float = 0.0
) -> None:
    """What became of each row that was moving: done, still moving, or elsewhere than it should be. A broker may not
    have heard yet, for `patience` seconds."""
    asked = {at: row for at, row in rows.items() if row.result == "moving"}
    now: dict[TopicPartition, list[int]] = {}

    async def done() -> bool:
        nonlocal asked, now
        moving = await list_reassignments(cluster, asked)
        now = await _replicas(cluster, {at.topic for at in asked})
        for at, row in asked.items():
            if at not in moving and now.get(at) == row.new:
                row.result = "done"
        asked = {at: row for at, row in asked.items() if row.result == "moving" and at not in moving}
        return not asked

    if asked:
        await repeat(done, Backoff(FIRST_PAUSE, FIRST_PAUSE), asyncio.get_running_loop().time() + patience)
    for at, row in asked.items():
        problem = KcliError(f"{about(at)}: not moving, but its replicas are {now.get(at)} instead of {row.new}")
        row.result, row.error = "failed", str(problem)
        document.fail(problem, about(at))


async def _replicas(cluster: Cluster, topics: set[str]) -> dict[TopicPartition, list[int]]:
    return {
        TopicPartition(partition.topic, partition.partition): partition.replicas
        for topic in (await describe_topics(cluster, topics)).values()
        if isinstance(topic, Topic)
        for partition in topic.partitions
    }
