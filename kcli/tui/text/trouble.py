"""A cluster that cannot be reached, in words: what was tried and failed, when it is tried again, what else one can do.
Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kcli.tui.text.formatting import elapsed
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.tui.session import Session


class Trouble(NamedTuple):
    """`tries` failed in a row, the first at `since`; the next is at `again`, where that is known (times of the
    session's clock)."""

    problem: str
    since: float
    tries: int
    again: float | None


def card(session: Session, trouble: Trouble | None, began: float, profiles: Iterable[str]) -> str:
    """What stands where a table would, while nothing is known of the cluster since `began`."""
    now, name, where = session.clock(), printable(session.name), printable(session.bootstrap)
    if trouble is None:
        head = f"Connecting to {name} … {elapsed(now - began)}"
        tried = where
    else:
        head = f"✖ {name} cannot be reached: {trouble.problem}"
        times = f"{trouble.tries} time{'s' * (trouble.tries > 1)} in {elapsed(now - trouble.since)}"
        tried = f"{where}, {times}; {_next(trouble, now)}"
    others = ", ".join(printable(one) for one in profiles if one != session.name)
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
