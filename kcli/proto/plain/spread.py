"""Appends rows of many partitions to their open batches in one pass over a chunk."""

from __future__ import annotations

from kcli.proto.plain.builder import STEP, Builder, pairs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping, Sequence

    from kcli.proto.buffer import Buffer
    from kcli.proto.columns import Lines

MOST_AROUND = 40
"""Largest size of a record in addition to key and value."""


def spread_rows(
    builders: Sequence[Builder | None],
    places: array[int],
    chunk: Buffer,
    lines: Lines,
    first_row: int,
    timestamp_ms: int,
    max_bytes: int,
    max_records: int,
    timestamps: array[int] | None = None,
    headers: tuple[array[int], array[int]] | None = None,
) -> tuple[int, int]:
    """Append each row from `first_row` on to the builder of its place, with the limits of `append_lines`.

    `places` and `timestamps` are one per row; `headers` are the positions of its headers in the chunk, encoded with
    their count in front, and their length (0: none). Returns the first row that was not appended because its builder is
    full or None, and by how many bytes the builders grew. Raises ValueError for a place outside `builders`.
    """
    data = bytes(chunk)
    row = first_row
    grown = 0
    while row < lines.count:
        stop = min(row + STEP, lines.count)
        met = set(places[row:stop])
        if min(met) < 0 or max(met) >= len(builders):
            raise ValueError("a row outside its partitions")
        if (
            timestamps is None
            and headers is None
            and _all_fit(builders, met, lines, range(row, stop), max_bytes, max_records)
        ):
            for place, rows in _by_place(met, places, range(row, stop)).items():
                builder = builders[place]
                assert builder is not None
                size = builder.size
                builder.append_pairs(pairs_of(data, lines, rows), timestamp_ms, max_bytes, max_records)
                grown += builder.size - size
            row = stop
            continue
        while row < stop:
            builder = builders[places[row]]
            if builder is None:
                return row, grown
            size = builder.size
            stamp = timestamp_ms if timestamps is None else timestamps[row]
            pairs = pairs_of(data, lines, (row,))
            tail = b"" if headers is None else data[headers[0][row] : headers[0][row] + headers[1][row]]
            if not (
                builder.append_tailed(*pairs[0], tail, stamp, max_bytes, max_records)
                if tail
                else builder.append_pairs(pairs, stamp, max_bytes, max_records)
            ):
                return row, grown
            grown += builder.size - size
            row += 1
    return max(first_row, lines.count), grown


def _by_place(met: set[int], places: array[int], rows: range) -> Mapping[int, Sequence[int]]:
    if len(met) == 1:
        return dict.fromkeys(met, rows)
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(places[row], []).append(row)
    return found


def _all_fit(
    builders: Sequence[Builder | None],
    met: set[int],
    lines: Lines,
    rows: range,
    max_bytes: int,
    max_records: int,
) -> bool:
    """Whether these rows certainly fit, whichever builders they go to."""
    start, stop = rows.start, rows.stop
    size = sum(lines.key_lengths[start:stop]) + sum(lines.value_lengths[start:stop]) + MOST_AROUND * len(rows)
    used = [builders[place] for place in met]
    return all(
        builder is not None and builder.size + size <= max_bytes and builder.count + len(rows) <= max_records
        for builder in used
    )
