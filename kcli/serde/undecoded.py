"""What could not be decoded of keys or values: how many by reason, and where the first of them is."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NamedTuple

    from kcli.proto.columns import Columns

    class Rows(NamedTuple):
        """Rows of a batch by their offsets, in order; those whose number has a reason could not be decoded."""

        offsets: Sequence[int]
        numbers: Sequence[int]
        reasons: dict[int, str]
else:
    Rows = namedtuple("Rows", "offsets numbers reasons")


class Undecoded:
    """Counts what could not be decoded: at once, or after `wait` the rows that `passed` and `printed` report. A batch
    is decoded whole, and only a part of it may be printed."""

    def __init__(self) -> None:
        self.reasons: Counter[str] = Counter()
        self.first: tuple[str, int, int] | None = None
        self.unanswered: dict[str, int] = {}
        """Reason to exit code, where the registry did not answer: what it has is unknown."""
        self.refused: set[str] = set()
        """The reasons of schemas that are not used."""
        self.unframed: dict[tuple[str, int], tuple[int, int]] = {}
        """By partition whose keys are taken for plain bytes, though they begin like a frame: the last offset that was
        not, and the length of its key."""
        self.denied = 0
        """The exit code of a registry that refused the credentials."""
        self._waiting: dict[tuple[str, int], list[Rows]] | None = None

    @property
    def total(self) -> int:
        return self.reasons.total()

    # -- what is decoded -----------------------------------------------------------------------------------------------

    def add(self, reason: str, topic: str, partition: int, offset: int) -> None:
        """A row that could not be read."""
        self._add(Rows((offset,), (0,), {0: reason}), topic, partition)

    def add_rows(self, faults: Sequence[tuple[int, str]], columns: Columns, topic: str, partition: int) -> None:
        """Rows that could not be read, each with its reason."""
        if not faults:
            return
        if self._waiting is None:
            self.reasons.update(reason for _, reason in faults)
            if self.first is None:
                self.first = topic, partition, columns.offsets[faults[0][0]]
            return
        offsets = array("q", [columns.offsets[row] for row, _ in faults])
        self._add(Rows(offsets, range(len(faults)), {n: why for n, (_, why) in enumerate(faults)}), topic, partition)

    def add_names(
        self, reasons: dict[int, str], numbers: array[int], columns: Columns, topic: str, partition: int
    ) -> None:
        """Rows by the numbers of the names in them: those whose name has a reason."""
        if reasons:  # else nothing failed, and no row has to be looked at
            self._add(Rows(columns.offsets, numbers, reasons), topic, partition)

    def _add(self, rows: Rows, topic: str, partition: int) -> None:
        if self._waiting is None:
            self._count(rows, topic, partition)
        else:
            self._waiting.setdefault((topic, partition), []).append(rows)

    def _count(self, rows: Rows, topic: str, partition: int) -> None:
        counts = Counter(rows.numbers)  # one pass: a batch may have as many names as rows
        for number, reason in rows.reasons.items():
            if counts[number]:
                self.reasons[reason] += counts[number]
        if self.first is None:
            row = next((row for row, number in enumerate(rows.numbers) if number in rows.reasons), None)
            self.first = None if row is None else (topic, partition, rows.offsets[row])

    # -- what is printed ----------------------------------------------------------------------------------------------

    def wait(self) -> None:
        """Count from now on what `passed` and `printed` name."""
        self._waiting = {}

    def count_all(self) -> None:
        """Count from now on whatever is decoded. What still waits was not printed."""
        self._waiting = None

    def passed(self, topic: str, partition: int, before: int) -> None:
        """Count the failures of a partition before an offset."""
        waiting = (self._waiting or {}).pop((topic, partition), ())
        left = []
        for rows in waiting:
            cut = bisect_left(rows.offsets, before)
            self._count(_part(rows, 0, cut), topic, partition)
            if cut < len(rows.offsets):
                left.append(_part(rows, cut, len(rows.offsets)))
        if left and self._waiting is not None:
            self._waiting[topic, partition] = left

    def printed(self, topic: str, partition: int, offset: int) -> None:
        """One record was printed."""
        for rows in (self._waiting or {}).get((topic, partition), ()):
            row = bisect_left(rows.offsets, offset)
            if row < len(rows.offsets) and rows.offsets[row] == offset:
                self._count(_part(rows, row, row + 1), topic, partition)


def _part(rows: Rows, start: int, stop: int) -> Rows:
    return Rows(rows.offsets[start:stop], rows.numbers[start:stop], rows.reasons)
