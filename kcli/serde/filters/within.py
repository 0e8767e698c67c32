"""Selects records by the time in their values, and counts records for which that is not possible."""

from __future__ import annotations

from kcli.serde.payload_time import MISSING, NO_TIME, NULL, UNREADABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kcli.serde.payload_time import TimeField


class Within:
    """Selects records whose time is in [start, end), in ms; None means unbounded. The results are in `without` (reason
    to count, for records without a time), `first` (topic, partition and offset of the first of them) and `back` (by how
    many ms times went back, and where)."""

    def __init__(self, field: TimeField, start: int | None, end: int | None) -> None:
        self.field, self.start, self.end = field, start, end
        self.seen = 0
        self.without: dict[str, int] = {}
        self.first: tuple[str, int, int] | None = None
        self.back: tuple[int, str, int, int] | None = None
        self._latest: dict[tuple[str, int], int] = {}

    def rows(
        self, rows: Sequence[int], values: Iterable[bytes | None], offsets: Sequence[int], topic: str, partition: int
    ) -> list[int]:
        """Return the selected ones of `rows`; `values` are theirs, `offsets` is the batch's column."""
        start = 0 if self.start is None else self.start
        end = 2**63 if self.end is None else self.end
        read, kept = self.field.time, []
        latest = self._latest.get((topic, partition), 0)
        for row, value in zip(rows, values, strict=True):
            time = read(value)
            if time is None:
                self._missed(value, topic, partition, offsets[row])
                continue
            if start <= time < end:
                kept.append(row)
            if time >= latest:
                latest = time
            elif self.back is None or latest - time > self.back[0]:
                self.back = latest - time, topic, partition, offsets[row]
        self.seen += len(rows)
        self._latest[topic, partition] = latest
        return kept

    def _missed(self, value: bytes | None, topic: str, partition: int, offset: int) -> None:
        why = self.field.why(value)
        self.without[why] = self.without.get(why, 0) + 1
        if self.first is None and why is not NULL:
            self.first = topic, partition, offset

    def said(self) -> str | None:
        """Return the sentence about records without a time, None if all had one."""
        total = sum(self.without.values())
        if not total:
            return None
        field = self.field.field
        words = {
            MISSING: f"without the field {field}",
            NO_TIME: f"with something in {field} that is not a time",
            UNREADABLE: "not " + ("of a known format" if self.field.format == "auto" else self.field.format),
            NULL: "null",
        }
        parts = [f"{self.without[why]} {what}" for why, what in words.items() if why in self.without]
        where = "" if self.first is None else f" (the first: {self.first[0]}[{self.first[1]}] offset {self.first[2]})"
        return (
            f"skipped {total} record{'' if total == 1 else 's'} that {'has' if total == 1 else 'have'} no time: "
            f"{', '.join(parts)}{where}"
        )
