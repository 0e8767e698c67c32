"""`kcli lag --replay`: the snapshots of a recording, as if the cluster were looked at."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext

from kcli.admin.groups.groups import progress_of
from kcli.cli.output.messages import complain
from kcli.cli.output.written import written
from kcli.errors import KcliError, UsageError
from kcli.lag.formats.recording import read
from kcli.lag.watch import LagSnapshot
from kcli.system import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from kcli.cli.commands.lag.plan import Plan
    from kcli.lag.snapshot import Snapshot


async def replayed(plan: Plan, path: str) -> AsyncIterator[LagSnapshot]:
    """The snapshots of a recording, as fast as they can be read. An incomplete last line is skipped, with a
    note."""
    history = plan.history()
    for number, text in enumerate(_lines(path), 1):
        try:
            time, snapshot = read(text.decode())
        except (KcliError, UnicodeDecodeError) as problem:
            if number > 1 and not text.endswith(b"\n"):
                complain(f"{path}:{number}: the recording ends in the middle of a line, which is ignored")
                return
            raise KcliError(f"{path}:{number}: {problem}") from problem
        _narrow(plan, snapshot)
        yield LagSnapshot(
            time=time,
            groups=history.add(time, snapshot),
            events=history.news,
            failed=snapshot.failed,
            brokers=snapshot.brokers,
        )


async def write_page(plan: Plan, path: str, to: str) -> int:
    """Write the recording as a web page; the exit code. Nothing is written of a recording that cannot be read."""
    from kcli.lag.formats.page import Page

    page = Page("stdin" if path == "-" else os.path.basename(path))
    async for snapshot in replayed(plan, path):
        page.add(snapshot)
    if not page.seen:
        raise KcliError(f"--replay {path}: the recording has no refresh")
    with written(to, "--html", force=plan.options.force) as file:
        file.write(page.html().encode())
    if not plan.options.quiet:
        left_out = f", {page.moments} of {page.seen} refreshes" if page.moments < page.seen else ""
        complain(f"the page is {to}{left_out}")
    return 0


def _narrow(plan: Plan, snapshot: Snapshot) -> None:
    """Of a recorded snapshot only what the line asks for, as if the cluster were asked for it."""
    states = {state.lower() for state in plan.options.states}
    snapshot.groups = [
        group
        for group in snapshot.groups
        if (plan.groups.covers(group.described.group) if plan.groups.words else asked(plan, group.described.group))
        and (not states or group.described.state.lower() in states)
    ]
    for group in snapshot.groups:
        group.samples = [sample for sample in group.samples if plan.topics.covers(sample.topic)]
    if plan.groups.words:
        snapshot.failed = {name: error for name, error in snapshot.failed.items() if plan.groups.covers(name)}


def asked(plan: Plan, group: str) -> bool:
    """Is a group of those that a line without names means?"""
    return plan.options.internal or progress_of(group) is None


def _lines(path: str) -> Iterator[bytes]:
    """The lines of a recording, `-` is stdin. Raises UsageError."""
    try:
        with nullcontext(sys.stdin.buffer) if path == "-" else files.opened(path) as file:
            yield from files.lines(file)
    except OSError as problem:
        raise UsageError(f"--replay {path}: {problem.strerror}") from problem
