"""Records with other keys or values: all else stays, in both cores."""

from __future__ import annotations

from array import array
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.proto.columns import Record
from kcli.proto.plain.gather import spans
from tests.each import each

from .record_cores import CORES, built, opened

core = each("core", CORES, ids=lambda core: core.__name__.rpartition(".")[2])
FIELDS = st.none() | st.binary(max_size=300)
HEADERS = st.lists(st.tuples(st.text(max_size=5), FIELDS), max_size=3)
ROWS = st.lists(st.tuples(st.integers(0, 2**40), FIELDS, FIELDS, HEADERS, FIELDS, FIELDS), min_size=1, max_size=80)


def replaced(core: ModuleType, header: Any, keys: Any, values: Any) -> list[Record]:
    header.data, count = core.replace_fields(header, keys, values)
    header.body_start, header.body_end, header.count = 0, len(header.data), count
    return list(core.read_records(header))


@core
@given(rows=ROWS, which=st.sampled_from(["keys", "values", "both"]), skipped=st.integers(0, 3))
def test_records_keep_all_but_what_is_replaced(core: ModuleType, rows: list[Any], which: str, skipped: int) -> None:
    header = opened(core, built(core, [row[:4] for row in rows]))
    header.first = min(skipped, header.last_offset)
    before = list(core.read_records(header))
    new = rows[header.first :]
    keys = None if which == "values" else spans([row[4] for row in new])
    values = None if which == "keys" else spans([row[5] for row in new])
    after = replaced(core, header, keys, values)
    for old, record, row in zip(before, after, new, strict=True):
        wanted = old._replace(key=old.key if keys is None else row[4], value=old.value if values is None else row[5])
        assert record == wanted


@core
def test_a_column_of_another_length_is_refused(core: ModuleType) -> None:
    header = opened(core, built(core, [(0, b"k", b"v", ())]))
    with pytest.raises(ValueError, match="records"):
        core.replace_fields(header, spans([b"a", b"b"]), None)


@core
def test_ids_of_frames(core: ModuleType) -> None:
    cells = [b"\0\0\0\1\2x", b"\0\0\0\1", b"\1\0\0\0\1", b"", b"\0\xff\xff\xff\xff"]
    data, starts, lengths = b"".join(cells), array("i"), array("i")
    for cell in cells:
        starts.append(sum(lengths))
        lengths.append(len(cell))
    starts.append(0)
    lengths.append(-1)
    assert list(core.frame_ids(data, starts, lengths)) == [258, -1, -1, -1, 2**32 - 1, -1]
