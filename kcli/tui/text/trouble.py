"""A cluster that cannot be reached, in words: what was tried and failed, when it is tried again, what else one can do.
Pure."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from kcli.tui.text.formatting import elapsed
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from kcli.tui.state import State, Trouble

LEAST_LATE = 3.0  # seconds before a line says that nothing came
ASKING = "Asking the cluster …"
WHY = "A broker is slow, or paused: ctrl+b shows which."


def waiting(state: State) -> str:
    """The text instead of a table, while nothing is known of the cluster, or nothing is read of a recording yet."""
    if not state.session.live:
        return "" if state.look is not None else state.session.waits.capitalize()
    return ASKING if state.look is not None else card(state)


def late(state: State) -> str:
    """The line above tables that are older than two refreshes should be; "" while they are not."""
    session, snapshot = state.session, state.look
    if snapshot is None or not session.live or session.paused:
        return ""
    age = session.clock() - snapshot.time
    if age <= max(2 * session.beat, LEAST_LATE) + 2 * snapshot.took:
        return ""
    then = f"{datetime.fromtimestamp(snapshot.time):%H:%M:%S}"
    return f"No answer for {elapsed(age)}: this is how it was at {then}. {state.problem or WHY}"


def card(state: State) -> str:
    """What is known of a cluster that has not answered yet: what was tried, when again, what else one can do."""
    session, trouble = state.session, state.trouble
    now, name, where = session.clock(), printable(session.name), printable(session.bootstrap)
    if trouble is None:
        head = f"Connecting to {name} … {elapsed(now - state.began)}"
        tried = where
    else:
        head = f"✖ {name} cannot be reached: {trouble.problem}"
        times = f"{trouble.tries} time{'s' * (trouble.tries > 1)} in {elapsed(now - trouble.since)}"
        tried = f"{where}, {times}; {_next(trouble, now)}"
    others = ", ".join(printable(profile) for profile in state.profiles if profile != session.name)
    rows = [
        ("tried", tried),
        ("which step", session.aimed("kcli doctor")),
        *([("elsewhere", f"{others} (ctrl+p, Profile)")] if others else []),
        ("a sandbox", "kcli demo"),
    ]
    return "\n".join([head, "", *(f"{label:<12}{text}" for label, text in rows)])


def _next(trouble: Trouble, now: float) -> str:
    if trouble.again is None or trouble.again <= now:
        return "trying now"
    return f"again in {elapsed(trouble.again - now)} (ctrl+r: now)"
