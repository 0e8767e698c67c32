"""JSON values are what Spark's `from_json` makes of them, cell by cell: every odd document, in one job of Spark's."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

import pyarrow as pa
import pyarrow.compute as pc

from kcli.errors import UsageError
from kcli.pipeline.formats.arrow import text
from kcli.pipeline.formats.formats import _is_quick, at_once, converter
from tests.pipeline import odd_json
from tests.pipeline.odd_json import DDL, FIELDS


def is_text(document: bytes | None) -> bool:
    try:
        (document or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def documents() -> list[bytes | None]:
    """Those that are UTF-8: of the others Spark makes other characters."""
    return [one for one in odd_json.documents() if is_text(one)]


def test_documents_that_are_not_utf_8_are_bad() -> None:
    found = [one for one in odd_json.documents() if not is_text(one)]
    decode = converter("json", KIND)
    assert decode is not None
    made, errors = decode(pa.array([b'{"id":1}', *found], pa.binary()))
    assert len(errors) == len(found) >= 4
    assert {why.split(":")[0] for why in errors.values()} == {"not UTF-8"}
    assert made.to_pylist() == [{"id": 1, "tags": None}, *[{"id": None, "tags": None}] * len(found)]


def plain(cells: pa.Array) -> list[str]:
    """Cells that can be compared: dates of any year, NaN that is NaN, 0.0 that is not -0.0."""
    if pa.types.is_date(cells.type):
        cells = cells.cast(pa.int32())
    if pa.types.is_timestamp(cells.type):
        cells = cells.cast(pa.int64())
    return [repr(one) for one in cells.to_pylist()]


@pytest.fixture(scope="module")
def sparks(spark):
    """What Spark makes of the documents, and whether it finds them bad."""
    from pyspark.sql import functions as f

    frame = spark.createDataFrame(pa.table({"text": pa.array(documents(), pa.binary())})).coalesce(1)
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_bad"}
    read = f.from_json(frame["text"].cast("string"), f"{DDL}, _bad STRING", options)
    return frame.select(read.alias("v")).toArrow()["v"].combine_chunks()


def test_every_odd_document_is_what_spark_makes_of_it_and_bad_where_spark_says_so(sparks):
    found = documents()
    kind = pa.struct([sparks.type.field(sparks.type.get_field_index(name)) for name in FIELDS])
    made, errors = converter("json", kind)(pa.array(found, pa.binary()))
    bad = pc.struct_field(sparks, "_bad").is_valid().to_pylist()
    assert [one for row, one in enumerate(found) if bad[row] != (row in errors)] == []
    assert made.is_valid() == sparks.is_valid()
    for name in FIELDS:
        ours, theirs = (plain(pc.struct_field(one, name)) for one in (made, sparks))
        wrong = [(found[row], theirs[row], ours[row]) for row in range(len(found)) if ours[row] != theirs[row]]
        assert wrong == [], name


def test_what_arrow_reads_at_once_is_the_same_or_refused(sparks):
    """Each document by itself: in a batch an odd one would send the others the slow way."""
    used = 0
    for name in FIELDS:
        kind = pa.struct([sparks.type.field(sparks.type.get_field_index(name))])
        if not _is_quick(kind):
            continue
        theirs, there = plain(pc.struct_field(sparks, name)), sparks.is_valid().to_pylist()
        for row, one in enumerate(documents()):
            if f'"{name}"'.encode() not in one and name not in ("i64", "text"):
                continue
            made = at_once(text(pa.array([one], pa.binary())), kind)
            if made is not None:
                used += 1
                assert (made.is_valid()[0].as_py(), *plain(pc.struct_field(made, name))) == (there[row], theirs[row]), (
                    one
                )
    assert used > 1000


KIND = pa.struct([("id", pa.int64()), ("tags", pa.list_(pa.string()))])


def test_one_odd_record_among_many_changes_no_other():
    cells = [b'{"id":%d,"tags":["a"]}' % n for n in range(500)]
    cells[77], cells[300], cells[301], cells[302] = b'{"id":2.5}', b'{"id":', b'300}{"id":301}', None
    made, errors = converter("json", KIND)(pa.array(cells, pa.binary()))
    assert errors == {
        77: "field id: 2.5 is not BIGINT", 300: "not a JSON object", 301: "not a JSON object",
    }  # fmt: skip
    rows = made.to_pylist()
    assert rows[77] == rows[300] == rows[301] == {"id": None, "tags": None}
    assert rows[302] is None
    assert [row["id"] for n, row in enumerate(rows) if n not in (77, 300, 301, 302)] == [
        n for n in range(500) if n not in (77, 300, 301, 302)
    ]


def test_texts_of_two_records_are_never_taken_for_others():
    """The first is cut off in the middle, the second has its rest and is two objects: as many lines as records."""
    cells = [b'{"id":1,"tags":["a"', b']}{"id":7}', b'{"id":2}']
    made, errors = converter("json", KIND)(pa.array(cells, pa.binary()))
    assert [row["id"] for row in made.to_pylist()] == [None, None, 2]
    assert set(errors) == {0, 1}


def test_a_type_that_json_is_not_decoded_as_is_told():
    with pytest.raises(UsageError, match="JSON values are not decoded as DURATION"):
        converter("json", pa.struct([("a", pa.duration("us"))]))


def test_what_the_jvm_connector_brings_is_checked_too(spark):
    from kcli.pipeline.errors import told
    from kcli.pipeline.jobs.frames import as_ours

    rows = [("t", 3, 7, b'{"id":1}'), ("t", 3, 8, b'{"id":2.5}'), ("t", 3, 9, None)]
    frame = spark.createDataFrame(rows, "topic STRING, partition INT, offset BIGINT, value BINARY").coalesce(1)
    formats = {"value": ("json", "id BIGINT")}
    with pytest.raises(Exception) as found:
        as_ours(frame, ["value"], formats, text=False).collect()
    assert str(told(found.value)) == "t[3] offset 8: bad value: not JSON of the schema; onBad=null makes it null"
    null = as_ours(frame, ["value", "valueError"], formats, text=False, null_bad=True).collect()
    assert [(row.value and row.value.id, row.valueError) for row in null] == [
        (1, None),
        (None, "not JSON of the schema"),
        (None, None),
    ]
