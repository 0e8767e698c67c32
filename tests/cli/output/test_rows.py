"""Classes of rows: where their columns stand, and what classes of several bases have."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import render
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.output.tables.shape import DECLARED


class Place(Row, mixin=True):
    topic: str = column("Name of the topic.")
    status: str = column("OK or not.")


class Pace(Row, mixin=True):
    status: str = column("FAST or SLOW.")
    rate: int = column("Records per second.", before="status")


class PaceRow(Pace, Place, section="topics"):
    time: str = column("When.", before="topic")


def test_a_column_before_another_keeps_its_own_place_in_json() -> None:
    document = Document(shape=shape("test.paces", "Paces.", PaceRow))
    del DECLARED["test.paces"]
    document.of(PaceRow).append(PaceRow(topic="t", status="FAST", rate=3, time="now"))
    assert render(document, "csv").splitlines() == ["time,topic,rate,status", "now,t,3,FAST"]
    assert render(document, "ndjson") == '{"topic":"t","status":"FAST","rate":3,"time":"now"}\n'


def test_a_column_that_is_declared_again_has_the_later_words() -> None:
    assert [c.about for c in PaceRow.columns if c.name == "status"] == ["FAST or SLOW."]


def test_a_row_of_a_value_has_its_attributes_and_what_is_given_besides() -> None:
    place = SimpleNamespace(topic="t", status="OK")
    assert PaceRow.of(place, rate=3, time="now") == PaceRow(topic="t", status="OK", rate=3, time="now")
    assert PaceRow.of(place, rate=3, time="now", status="FAST").status == "FAST"
    with pytest.raises(AttributeError, match="rate"):
        PaceRow.of(place, time="now")


def test_rows_of_several_bases_are_equal_by_all_columns_however_many_there_are() -> None:
    rows = [PaceRow(topic="t", status="FAST", rate=number, time="now") for number in range(20)]
    assert [row.rate for row in rows] == list(range(20))
    assert rows[19] == PaceRow(topic="t", status="FAST", rate=19, time="now") != rows[18]
