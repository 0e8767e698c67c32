"""Records with other keys or values: all else stays, in both cores."""

from __future__ import annotations

import re
from array import array
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.errors import DecodeError
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


@pytest.mark.slow
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


NAME = b"__value_schema_id"
NAMED = st.sampled_from(
    [
        None, b"", b"\0\0\0\0\7", b"\0\0\0\0\7x", b"\0\0\0\7", b"\1" + bytes(range(16)), b"\1" + b"a" * 16,
        b"\0" * 8, b"\0" * 9, b"\0" * 8 + b"\7", b"\0" * 5 + b"abcde", b"\0\0\0\1" + bytes(6), b"\1" + b"a" * 400,
        b"\3\0" + b"u" * 16, b"\3\5" + b"u" * 17, b"\3\0" + b"u" * 15, b"\3\1" + b"u" * 16,
        b"\xc3\1" + b"f" * 8, b"\xc3\1" + b"f" * 9, b"\xc3\1" + b"f" * 7, b"\xc3\2" + b"f" * 8,
    ]
)  # fmt: skip
FORMS = [
    (rb"\x00{5}(?!\x00{4}).{4}", 9), (rb"\x00.{4}", 5), (rb"\x01.{16}", 17), (rb"\x03[\x00\x05].{16}", 18),
    (rb"\xc3\x01.{8}", 10),
]  # fmt: skip
"""What begins with a name, and how many bytes that has: the first that fits."""
FRAMES = st.lists(
    st.tuples(
        st.one_of(NAMED, st.binary(max_size=30)),
        st.lists(st.tuples(st.sampled_from(["__value_schema_id", "__value_schema_i", "h"]), NAMED), max_size=3),
    ),
    min_size=1, max_size=30,
)  # fmt: skip


def named_by(value: bytes | None, headers: list[tuple[str, bytes | None]]) -> tuple[bytes | None, int]:
    """What the contract says: the last header with Confluent's forms, whole but for its length, else the first bytes;
    and how many of them."""

    def name(content: bytes | None) -> bytes | None:
        return next((content[:n] for form, n in FORMS if content and re.match(form, content, re.DOTALL)), None)

    if value is None:
        return None, 0
    found = [content for own, content in headers if own == NAME.decode() and content and name(content)]
    found = [content for content in found if content[0] <= 1]
    if found:
        return found[-1][:384], 0
    return name(value), len(name(value) or b"")


@core
@given(rows=FRAMES)
def test_names_of_schemas_in_headers_and_frames(core: ModuleType, rows: list[Any]) -> None:
    columns = core.read_columns(opened(core, built(core, [(0, None, value, headers) for value, headers in rows])))
    for header in (NAME, b""):
        names, which, skips = core.frame_names(columns, columns.value_starts, columns.value_lengths, header)
        found = [(None if number < 0 else names[number], skip) for number, skip in zip(which, skips, strict=True)]
        assert found == [named_by(value, headers if header else []) for value, headers in rows]
        assert len(set(names)) == len(names)


@core
def test_headers_outside_their_buffer_are_refused(core: ModuleType) -> None:
    columns = core.read_columns(opened(core, built(core, [(0, None, b"v", (("h", b"x"),))])))
    columns.header_starts[0] = len(columns.data) + 1
    with pytest.raises((DecodeError, IndexError)):
        core.frame_names(columns, columns.value_starts, columns.value_lengths, NAME)
