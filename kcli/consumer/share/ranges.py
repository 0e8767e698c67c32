"""Acknowledgements as ranges of offsets: decisions, their form in a request, and results. There is no loop per
record."""

from __future__ import annotations

from collections import namedtuple

from kcli.errors import KcliError, UsageError
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    class Range(NamedTuple):
        """Offsets `first` to `last`, inclusive, and their acknowledgement."""

        first: int
        last: int
        kind: int
else:
    Range = namedtuple("Range", "first last kind")

GAP, ACCEPT, RELEASE, REJECT, RENEW = 0, 1, 2, 3, 4
KINDS = {"accept": ACCEPT, "release": RELEASE, "reject": REJECT}
NAMES = {GAP: "gap", ACCEPT: "accept", RELEASE: "release", REJECT: "reject", RENEW: "renew"}


class Outcome(Value):
    """The result of one acknowledgement. `error` None: the broker accepted it. `unknown`: it may have accepted it.
    Otherwise it did not: the records are delivered again, possibly to this member."""

    topic: str = ""
    partition: int = 0
    first: int = 0
    last: int = 0
    kind: str = "accept"
    error: KcliError | None = None
    unknown: bool = False

    @property
    def records(self) -> int:
        """Number of offsets; in a compacted log there are fewer records."""
        return self.last - self.first + 1


def merged(ranges: Iterable[Range]) -> list[Range]:
    """Return the ranges in order, with adjacent ranges of one kind merged, as the broker requires. They must not
    overlap."""
    joined: list[Range] = []
    for span in sorted(ranges):
        if joined and joined[-1].kind == span.kind and joined[-1].last + 1 == span.first:
            joined[-1] = Range(joined[-1].first, span.last, span.kind)
        else:
            joined.append(span)
    return joined


def halves(ranges: list[Range]) -> list[list[Range]]:
    """Split the ranges into two halves; nothing for a single offset."""
    if len(ranges) > 1:
        middle = len(ranges) // 2
        return [ranges[:middle], ranges[middle:]]
    span = ranges[0]
    if span.first == span.last:
        return []
    middle = (span.first + span.last) // 2
    return [[Range(span.first, middle, span.kind)], [Range(middle + 1, span.last, span.kind)]]


def cut(ranges: list[Range], spans: Iterable[tuple[int, int]]) -> tuple[list[Range], list[Range]]:
    """Return the parts of the ranges outside all spans (first, last), and the parts inside."""
    outside, inside = list(ranges), []
    for first, last in spans:
        rest: list[Range] = []
        for span in outside:
            low, high = max(span.first, first), min(span.last, last)
            if low > high:
                rest.append(span)
                continue
            inside.append(Range(low, high, span.kind))
            rest += [Range(a, b, span.kind) for a, b in ((span.first, low - 1), (high + 1, span.last)) if a <= b]
        outside = rest
    return outside, inside


class Undecided:
    """Ranges of offsets without an acknowledgement."""

    __slots__ = ("_open",)

    def __init__(self, first: int, last: int) -> None:
        self._open = [(first, last)] if first <= last else []

    def __bool__(self) -> bool:
        return bool(self._open)

    def ranges(self) -> list[tuple[int, int]]:
        return list(self._open)

    def decide(self, first: int, last: int) -> None:
        """Assign an acknowledgement to offsets. Raises UsageError if they already have one, or were never acquired."""
        for index, (low, high) in enumerate(self._open):
            if low <= first <= last <= high:
                rest = [(low, first - 1), (last + 1, high)]
                self._open[index : index + 1] = [pair for pair in rest if pair[0] <= pair[1]]
                return
        raise UsageError(f"offsets {first} to {last} are not all waiting for an acknowledgement")
