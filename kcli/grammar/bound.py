"""Where to start or stop reading: a plain value that every layer may import."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.text.checked import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from kcli.values import NamedTuple


class Bound(NamedTuple):
    """A position in a partition. `kind` is earliest, latest, stored (the group's commit, else the reset policy), offset
    (N), relative (N before the end), from_start (N after the start) or time (ms since the epoch: the first record at or
    after it, else the end)."""

    kind: str
    value: int = 0


KINDS = ("earliest", "latest", "stored", "offset", "relative", "from_start", "time")


def checked_bound(name: str, given: Bound | int) -> Bound:
    """Return a start position as a Bound; `name` is its name in errors. Raises UsageError for an invalid value."""
    bound = Bound("offset", given) if type(given) is int else given
    if not isinstance(bound, Bound):
        raise UsageError(f"{name} {shown(given)}: expected an offset or a Bound")
    if bound.kind not in KINDS:
        from kcli.text.suggest import did_you_mean

        near = did_you_mean(str(bound.kind), KINDS)
        raise UsageError(f"{name} of kind {shown(bound.kind)}: expected {', '.join(KINDS)}{near}")
    if type(bound.value) is not int or not (bound.value >= 0 or bound.kind == "time"):
        raise UsageError(f"{name} {shown(bound.value)}: expected a whole number, 0 or more")
    return bound
