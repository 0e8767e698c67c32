"""`kcli lag` over time: --watch, assertions that have to hold for a while, record, --replay and --prometheus."""

from __future__ import annotations

import asyncio
import sys
from math import inf
from time import monotonic

from kcli.cli.commands.lag.rows import rows, stamp
from kcli.cli.main import complain
from kcli.cli.output.render import Document, render
from kcli.cli.output.shapes.shape import shape
from kcli.cli.runtime.answer import format_of
from kcli.cli.runtime.connection import Connection
from kcli.cli.runtime.signals import Stop
from kcli.cli.runtime.signals import run as run_loop
from kcli.errors import KcliError, UsageError
from kcli.lag.assertion import Promise
from kcli.lag.history import History
from kcli.lag.watch import DATED, Look, Watch, pause
from kcli.text.escape import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from kcli.cli.parsing.option import Values
    from kcli.model import Cluster

DONE, FAILED, BROKEN, LATE = 0, 1, 3, 4
LEAST_PAUSE = 0.05  # seconds between two looks when the time is up
GRACE = 5.0  # seconds that the last look may take
SECTIONS = {"group": "groups", "topic": "topics", "partition": "partitions"}


class Plan:
    """What a command line says, understood. Raises UsageError."""

    def __init__(self, values: Values) -> None:
        words: list[str] = values["words"] or []
        self.values = values
        self.record = bool(words) and words[0] == "record"
        self.groups = words[1:] if self.record else words
        self.replay: str | None = values["replay"]
        self.prometheus = address(values["prometheus"])
        self.watch: bool = values["watch"] or self.record or self.prometheus is not None or self.replay is not None
        self.level = "partition" if values["partitions"] else values["by"] or ("topic" if self.groups else "group")
        self.interval = _above_zero(values["interval"], "--interval", 5.0)
        self.window = _above_zero(values["window"], "--window", 60.0)
        self.looks: int | None = values["count"]
        self.hold = seconds(values["hold"], "--for") or 0.0
        self.timeout = seconds(values["timeout"], "--timeout")
        most = seconds(values["max_time"], "--max-time")
        self.promise = None
        if values["max_lag"] is not None or most is not None:
            if self.record or self.prometheus is not None:
                what = "record only writes down" if self.record else "--prometheus only serves"
                raise UsageError(f"{what} what was read; --max-lag and --max-time are judged without it")
            ends_move = values["isolation"] == "read_committed"
            self.promise = Promise(values["max_lag"], most, self.hold, groups=self.groups, ends_move=ends_move)
        elif self.hold or self.timeout is not None:
            raise UsageError("--for and --timeout need something to hold: --max-lag or --max-time")
        self.exact = most is not None or bool(values["exact"])
        if values["exact"] and not self.watch and self.promise is None and self.looks is None:
            self.looks = 1  # by itself it says how, not how often
        self.format = format_of(values)
        if self.record and self.replay:
            raise UsageError("record reads the cluster, --replay a file; take one")
        if self.prometheus is not None and self.replay:
            raise UsageError("--prometheus serves what the cluster says, --replay reads a file; take one")

    def history(self) -> History:
        return History(window=self.window, threshold=self.values["max_lag"] or 0)


def seconds(text: str | None, flag: str) -> float | None:
    """A duration such as 30, 30s, 5m or 500ms, in seconds. Raises UsageError."""
    if text is None:
        return None
    from kcli.grammar.offsets import duration

    found = int(text) * 1000 if text.isdecimal() else duration(text)
    if found is None or found < 0:
        raise UsageError(f"{flag} {text}: expected a duration such as 30s, 5m or 1h30m")
    return found / 1000


def _above_zero(text: str | None, flag: str, default: float) -> float:
    """A duration that something is divided by, or that passes between two looks. Raises UsageError."""
    found = seconds(text, flag)
    if found == 0:
        raise UsageError(f"{flag} {text}: it must be more than 0, such as 500ms")
    return default if found is None else found


def address(text: str | None) -> tuple[str, int] | None:
    """[HOST]:PORT or PORT; without a host only this machine is served. Raises UsageError."""
    if text is None:
        return None
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) < 65536:
        raise UsageError(f"--prometheus {text}: expected [HOST]:PORT, such as :9308")
    return host.strip("[]") or "127.0.0.1", int(port)


def run(values: Values) -> int:
    """`kcli lag` with anything that takes more than one look."""
    plan = Plan(values)
    return run_loop(lambda stop: _run(plan, stop))


async def _run(plan: Plan, stop: Stop) -> int:
    if plan.replay is not None:
        from kcli.cli.commands.lag.replay import replayed

        return await _judge(plan, stop, replayed(plan, plan.replay))
    from kcli.client import Client

    async with Client(Connection(plan.values).client()) as client:
        if plan.prometheus is not None:
            from kcli.cli.commands.lag.prometheus import serve

            return await serve(plan, stop, lambda lost: _looks(plan, stop, client.cluster, lost))
        if plan.record:
            return await _record(plan, _looks(plan, stop, client.cluster))
        return await _judge(plan, stop, _looks(plan, stop, client.cluster))


def watch_of(plan: Plan, cluster: Cluster) -> Watch:
    values = plan.values
    return Watch(
        cluster, plan.groups, plan.history(), states=values["states"], topics=values["topics"],
        isolation=values["isolation"] or "read_uncommitted", exact=plan.exact or plan.watch,
        most=None if plan.exact else DATED, own=values["internal"],
    )  # fmt: skip


async def _looks(
    plan: Plan, stop: Stop, cluster: Cluster, lost: Callable[[], None] = lambda: None
) -> AsyncIterator[Look]:
    """Look after look until somebody stops it. A look that fails altogether is said (to `lost` too) and
    tried again; the first one raises, and so does every one that an assertion without a --timeout rests on. With one,
    the last look is when that is over, and a look that brokers hold up is not waited for much longer."""
    watch = watch_of(plan, cluster)
    seen, said = 0, Said()
    until = None if plan.timeout is None else monotonic() + plan.timeout
    while not stop.asked:
        try:
            async with asyncio.timeout(None if until is None else max(until - monotonic(), 0.0) + GRACE):
                look = await stop.unless(watch.look())
        except TimeoutError:
            complain("brokers did not answer in time, so nothing is known of the lag now")
            return
        except KcliError as problem:
            if not seen or (plan.promise is not None and plan.timeout is None):
                raise
            for sentence in said.news([str(problem)]):
                complain(sentence)
            lost()
            look = None
        if look is not None:
            seen += 1
            said.news([])
            yield look
        if plan.looks is not None and seen >= plan.looks:
            return
        left = inf if until is None else until - monotonic()
        if look is None and left <= 0:
            return  # the time is up, and nothing is known
        await stop.unless(asyncio.sleep(min(pause(plan.interval), max(left, LEAST_PAUSE))))


async def _record(plan: Plan, looks: AsyncIterator[Look]) -> int:
    """What was read to stdout, a line a look; a look that fails is said, and does not end the recording."""
    from kcli.lag.formats.recording import line

    said = Said()
    async for look in looks:
        problems(plan, look, said)
        put(line(look.time, look.snapshot))
        sys.stdout.flush()
    return DONE


async def _judge(plan: Plan, stop: Stop, looks: AsyncIterator[Look]) -> int:
    """Show each look of a watch, or the last of an assertion; the exit code."""
    from kcli.cli.commands.lag.screen import Screen

    screen, said = Screen(plan), Said()
    began: float | None = None
    code = DONE
    last: Look | None = None
    try:
        async for look in looks:
            last = look
            began = look.time if began is None else began
            problems(plan, look, said)
            if plan.watch:
                screen.show(look)
            if plan.promise is None:
                code = FAILED if unread(look) else DONE
                continue
            kept, why = plan.promise.kept(look), plan.promise.broken(look)
            code = DONE if kept else BROKEN if why else FAILED if unread(look) else LATE
            late = plan.timeout is not None and look.time - began >= plan.timeout
            if kept or (code != LATE and plan.timeout is None) or late:
                code = LATE if late and not kept else code
                for sentence in (*plan.promise.unread(look), *why):
                    complain(sentence)
                break
        else:
            if plan.promise is not None and plan.replay is None and (last is None or plan.looks is None):
                code = LATE  # the looks ended without an answer
    finally:
        screen.close()
    if last is None and plan.replay is not None and not stop.asked:
        raise KcliError(f"--replay {plan.replay}: there is no look in it")
    if last is not None and not plan.watch:
        screen.print(last)
    if stop.asked and plan.promise is not None:
        return 130
    return DONE if stop.asked else code


def unread(look: Look) -> bool:
    """Whether something of what was asked for could not be read."""
    return bool(look.failed or look.brokers or any(group.total.unknown for group in look.groups))


class Said:
    """What was said of the look before: what is still so is not said again."""

    def __init__(self) -> None:
        self._before: set[str] = set()

    def news(self, sentences: list[str]) -> list[str]:
        """Those that were not among the last ones."""
        new = [one for one in dict.fromkeys(sentences) if one not in self._before]
        self._before = set(sentences)
        return new


def problems(plan: Plan, look: Look, said: Said) -> None:
    """What could not be read, and what happened, on stderr."""
    wrong = [str(error) if about in str(error) else f"{about}: {error}" for about, error in look.failed.items()]
    wrong += [f"broker {node} did not list its groups: {error}" for node, error in look.brokers.items()]
    for sentence in said.news(wrong):
        complain(sentence)
    if plan.values["quiet"] or not plan.watch:
        return
    for event in look.events:
        complain(f"{stamp(event.time)} {event.group}: {event.text}")


def document(plan: Plan, look: Look) -> Document:
    made = Document(shape=shape(f"lag.watch.{plan.level}"))
    made.rows[SECTIONS[plan.level]] = rows(look, plan.level)
    for about, error in look.failed.items():
        made.fail(error, about)
    return made


def text_of(plan: Plan, look: Look, *, first: bool) -> str:
    """One look as text for a pipe: a document a line for json, rows for the others, a head only once."""
    made = document(plan, look)
    if plan.format == "json":
        from json import dumps

        from kcli.cli.output.render import whole

        return dumps(whole(made), ensure_ascii=False, separators=(",", ":")) + "\n"
    text = render(made, plan.format)
    if plan.format in ("csv", "csv-safe", "tsv") and not first:
        return text.partition("\n")[2]
    if plan.format == "table" and not first:
        return "\n" + text
    return text
