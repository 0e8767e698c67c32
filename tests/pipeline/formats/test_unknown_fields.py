"""Fields of JSON that no column has: which records have them, whatever their shape. Python's reader is the oracle."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kcli.pipeline.formats import formats
from kcli.pipeline.formats.formats import Unknown, converter

QUICK = pa.struct(
    [
        ("id", pa.int64()),
        ("user", pa.struct([("name", pa.string()), ("tags", pa.list_(pa.string()))])),
        ("items", pa.list_(pa.field("element", pa.struct([("sku", pa.string()), ("n", pa.int64())])))),
    ]
)
SLOW = pa.struct([*QUICK, ("at", pa.timestamp("us", "UTC")), ("more", pa.map_(pa.string(), QUICK))])


def lacking(value: Any, kind: pa.DataType, path: str = "") -> list[str]:
    """The paths of fields that are not null and that a type lacks."""
    if pa.types.is_struct(kind) and isinstance(value, dict):
        known = {field.name: field.type for field in kind}
        return [
            one
            for name, inner in value.items()
            for one in (
                lacking(inner, known[name], f"{path}{name}.")
                if name in known
                else [f"{path}{name}"] * (inner is not None)
            )
        ]
    if pa.types.is_list(kind) and isinstance(value, list):
        return [one for inner in value for one in lacking(inner, kind.value_type, f"{path[:-1]}[].")]
    if pa.types.is_map(kind) and isinstance(value, dict):
        return [one for inner in value.values() for one in lacking(inner, kind.item_type, f"{path}*.")]
    return []


NAMES = st.sampled_from(["id", "user", "items", "name", "tags", "sku", "n", "note", "vip", "a.b", "ü"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
USERS = st.dictionaries(st.sampled_from(["name", "tags", "vip"]), st.text(max_size=2) | st.none(), max_size=3)
ITEMS = st.lists(st.dictionaries(st.sampled_from(["sku", "colour"]), st.text(max_size=2), max_size=2), max_size=3)
ROWS = st.fixed_dictionaries(
    {"id": st.integers(0, 9)}, optional={"user": USERS, "items": ITEMS, "note": VALUES, "more": st.none()}
) | st.dictionaries(NAMES, VALUES, max_size=4)


@pytest.mark.parametrize("kind", [QUICK, SLOW], ids=["by Arrow", "one by one"])
@given(rows=st.lists(ROWS, max_size=60))
@example(rows=[{"name": [None, None]}])  # Arrow infers a list of nulls, which is shorter than its offsets say
@settings(max_examples=80, deadline=None)
def test_records_with_fields_that_no_column_has_are_found(kind: pa.DataType, rows: list[Any]) -> None:
    cells = pa.array([json.dumps(row).encode() for row in rows], pa.binary())
    unknown = Unknown()
    decode, plain = converter("json", kind, unknown), converter("json", kind)
    assert decode is not None
    assert plain is not None
    for _ in range(2):  # the second time it knows that there are some
        unknown.clear()
        made, errors = decode(cells)
        before, known = plain(cells)
        assert (made.to_pylist(), errors) == (before.to_pylist(), known)
        wanted = {row: lacking(one, kind) for row, one in enumerate(rows)}
        fits = {row for row in wanted if row not in errors}  # what does not fit is not looked into everywhere
        found = unknown.by_row()
        assert {row for row in found if row in fits} == {row for row in fits if wanted[row]}
        for row in set(found) & fits:
            assert found[row] == Unknown().named(wanted[row])
        assert unknown.column(len(rows)).to_pylist() == [found.get(row) for row in range(len(rows))]


def test_a_batch_without_such_fields_is_read_by_arrow_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = formats.at_once

    def counted(cells: pa.Array, *args: Any, **options: Any) -> Any:
        calls.append((len(cells), options.get("unexpected")))
        return real(cells, *args, **options)

    monkeypatch.setattr(formats, "at_once", counted)
    unknown = Unknown()
    decode = converter("json", QUICK, unknown)
    assert decode is not None
    decode(pa.array([b'{"id":%d}' % n for n in range(20_000)], pa.binary()))
    assert calls == [(20_000, "error")]
    calls.clear()
    decode(pa.array([b'{"id":%d%b}' % (n, b',"x":1' if n in (7, 9_999) else b"") for n in range(20_000)], pa.binary()))
    assert unknown.by_row() == {7: "x", 9_999: "x"}
    assert calls[:3] == [(20_000, "error"), (2_000, "error"), (2_000, "infer")]
    assert len(calls) == 12, "in pieces, of which one infers the field"
    calls.clear()
    unknown.clear()
    decode(pa.array([b'{"id":%d,"x":1,"y":null}' % n for n in range(20_000)], pa.binary()))
    assert len(unknown.by_row()) == 20_000
    calls.clear()
    decode(pa.array([b'{"id":%d,"x":1}' % n for n in range(20_000)], pa.binary()))
    assert calls == [(20_000, "error")], "the field is known"


def test_many_names_are_keys_of_a_map_and_few_of_them_are_named() -> None:
    unknown = Unknown()
    decode = converter("json", QUICK, unknown)
    assert decode is not None
    decode(pa.array([json.dumps({f"k{n}-{m}": m for m in range(8)}).encode() for n in range(3_000)], pa.binary()))
    assert len(unknown.by_row()) == 3_000
    assert unknown.by_row()[2_999] == "k2999-0, k2999-1, k2999-2, k2999-3, k2999-4 and 3 more"


def test_msgpack_too() -> None:
    msgpack = pytest.importorskip("msgpack")
    unknown = Unknown()
    decode = converter("msgpack", QUICK, unknown)
    assert decode is not None
    rows = [{"id": 1}, {"id": 2, "note": "n", "user": {"vip": True}}, {"id": 3, "note": None}]
    decode(pa.array([msgpack.packb(row) for row in rows], pa.binary()))
    assert unknown.by_row() == {1: "note, user.vip"}


def test_of_change_events_only_the_fields_of_rows_count() -> None:
    unknown = Unknown(["before.", "after."])
    decode = converter("json", pa.struct([("after", pa.struct([("id", pa.int64())])), ("op", pa.string())]), unknown)
    assert decode is not None
    decode(pa.array([b'{"after":{"id":1},"op":"c","source":{}}', b'{"after":{"id":1,"x":2},"source":1}'], pa.binary()))
    assert unknown.by_row() == {1: "after.x"}
