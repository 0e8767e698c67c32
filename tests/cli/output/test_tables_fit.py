"""Tables on a terminal fit: no line is too long, no word and no number is broken.

The snapshots are of every table at three widths; `make snapshots` writes them."""

from __future__ import annotations

import re

import pytest

from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import render, rounded, shown
from kcli.cli.output.tables.rows import Row, column, duration, shape
from kcli.cli.output.tables.shape import DECLARED, Column, Shape, every
from kcli.cli.output.tables.view import View
from kcli.cli.output.terminal import Terminal
from kcli.text.width import cells, items, middle, wrapped
from tests.cli.output.snapshots import REMADE, tables
from tests.cli.output.table_samples import WIDTHS, document, drawn, heading

SHAPES = {one.name: one for one in every()}
TOO_LONG = {"tokens.create"}
"""What is shown once is never cut: the password of a token."""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SHAPES)
def test_each_table_is_as_it_was(name: str, width: int) -> None:
    whole = tables(width).read_text()
    head = heading(SHAPES[name], width)
    was = whole.partition(head)[2].partition("\n== ")[0].rstrip("\n")
    assert was == drawn(SHAPES[name], width).rstrip("\n"), REMADE


def test_the_snapshots_are_of_the_tables_that_there_are() -> None:
    for width in WIDTHS:
        assert tables(width).read_text().count("\n== ") + 1 == len(SHAPES), REMADE


@pytest.mark.parametrize("width", WIDTHS)
def test_the_snapshots_show_whole_names(width: int) -> None:
    """Two topics whose names differ in the middle look the same when the middle is cut. The first name of a row
    has to be whole wherever it is shown."""
    whole = tables(width).read_text()
    cut = []
    for name, declared in SHAPES.items():
        text = whole.partition(heading(declared, width))[2].partition("\n== ")[0]
        for section, rows in document(declared).tables():
            first = next((one for one in section.drawn(rows) if one.form == "name"), None)
            hidden = first is not None and first.title in text.rpartition("hidden columns: ")[2]
            if first is not None and not hidden and not all(shown(first, row) in text for row in rows):
                cut.append(f"{name}: {first.name}")
    assert cut == []


@pytest.mark.parametrize("width", [*WIDTHS, 61, 40])
@pytest.mark.parametrize("name", SHAPES)
def test_no_line_is_too_long_and_no_word_is_broken(name: str, width: int) -> None:
    text = drawn(SHAPES[name], width)
    words = {word for line in text.splitlines() for word in line.split()}
    words = {word for word in words if not re.fullmatch(r"\+\d+", word)}  # how many items of a list are not shown
    assert {word for word in words if "…" not in word} <= known(SHAPES[name])
    if name not in TOO_LONG:
        assert [line for line in text.splitlines() if cells(line) > width and "  " in line.strip()] == []


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_not_shown_is_named(name: str) -> None:
    text = drawn(SHAPES[name], 80)
    titles = [one.title for section, rows in document(SHAPES[name]).tables() for one in section.drawn(rows)]
    flat = " ".join(text.split())
    for title in titles:
        assert all(word in flat for word in title.split())


@pytest.mark.parametrize("name", SHAPES)
def test_numbers_without_a_unit_words_and_statuses_are_whole(name: str) -> None:
    """Wherever a column is shown, its numbers and words are."""
    made = document(SHAPES[name])
    for width in WIDTHS:
        text = render(made, "table", Terminal(width=width))
        hidden = " ".join(text.rpartition("hidden columns: ")[2].split()) if "hidden columns: " in text else ""
        lines = set(text.split())
        for section, rows in made.tables():
            for one in section.drawn(rows):
                if one.title in hidden or one.form or (one.kind == "string" and one.unit not in ("word", "time")):
                    continue
                assert all(set(rounded(one, row).split()) <= lines for row in rows)


@pytest.mark.parametrize("name", SHAPES)
def test_wide_shows_all_and_exactly(name: str) -> None:
    made = document(SHAPES[name])
    made.view = View(wide=True)
    text = render(made, "table", Terminal(width=80))
    assert "hidden columns" not in text
    for section, rows in made.tables():
        for one in section.drawn(rows):
            assert all(shown(one, row) in text for row in rows)


def known(declared: Shape) -> set[str]:
    """Every word that the table of a shape may have."""
    made = document(declared)
    texts = ["hidden columns: --wide shows all"]
    for section, rows in made.tables():
        texts += [one.title for one in section.columns] + [f"{one.title}," for one in section.columns]
        texts += [f"{one.title};" for one in section.columns]
        texts += [text(one, row) for one in section.columns for row in rows for text in (shown, rounded)]
    return {word for text in texts for part in (text, text.partition(",")[0]) for word in part.split()}


def test_offsets_ids_epochs_and_partitions_are_exact() -> None:
    """KIP facts are compared and typed again: no unit may round them."""
    exact = "offset partition broker node epoch leader coordinator producer_id committed end start old new key port id"
    units = {(one.name, c.name): c.unit for one in SHAPES.values() for s in one.sections for c in s.columns}
    rounds = {place: unit for place, unit in units.items() if unit in ("count", "bytes", "rate", "bytes/s")}
    allowed = {("pipeline.finalize", "committed")}  # a number of files
    assert [place for place in rounds if place[1] in exact.split() and place not in allowed] == []


class FitRow(Row, section="rows"):
    name: str = column("Name.", rank=1)
    host: str = column("Host.", rank=3)
    lag: int | None = column("Lag.", unit="count", rank=1)
    size: int = column("Size.", unit="bytes")
    rate: float = column("Rate.", unit="rate")
    age: float = duration("Age.")
    offset: int = column("Offset.")
    status: str = column("Status.", unit="word", rank=1)


def rows(name: str = "orders", host: str = "kafka-1.example.com") -> Document:
    made = Document(shape=shape("test.fit", "Rows.", FitRow))
    del DECLARED["test.fit"]
    made.of(FitRow).append(
        FitRow(
            name=name, host=host, lag=1_234_567, size=5 << 30, rate=12.34, age=75.0, offset=1_234_567, status="STUCK"
        )
    )
    return made


def test_a_terminal_rounds_counts_bytes_and_rates_and_a_pipe_does_not() -> None:
    assert render(rows(), "table", Terminal(width=100)).splitlines()[1].split() == [
        *("orders", "kafka-1.example.com", "1.23M", "5.0", "GiB", "12", "1m15s", "1234567", "STUCK")
    ]
    assert render(rows(), "table").splitlines()[1].split() == [
        *("orders", "kafka-1.example.com", "1234567", "5368709120", "12.3", "1m15s", "1234567", "STUCK")
    ]


def test_a_pipe_gets_every_column_uncut() -> None:
    name = "n" * 300
    assert name in render(rows(name), "table")


@pytest.mark.parametrize("width", [90, 66])
def test_columns_go_before_a_name_is_cut(width: int) -> None:
    long = "payments.eu-west-1.card-authorisations.v3"
    lines = render(rows(long, long), "table", Terminal(width=width)).splitlines()
    assert lines[1].startswith(f"{long}  ")
    assert "HOST" not in lines[0]
    assert lines[-1].startswith("hidden columns: HOST")
    assert max(map(cells, lines)) <= width


def test_columns_go_by_rank() -> None:
    assert render(rows("payments.eu-west-1"), "table", Terminal(width=66)).splitlines() == [
        "NAME                  LAG     SIZE  RATE    AGE   OFFSET  STATUS",
        "payments.eu-west-1  1.23M  5.0 GiB    12  1m15s  1234567  STUCK",
        "hidden columns: HOST; --wide shows all",
    ]


def test_a_terminal_narrower_than_a_name_shows_all_of_it() -> None:
    lines = render(rows("payments.eu-west-1"), "table", Terminal(width=10)).splitlines()
    assert lines[:4] == ["NAME", "    LAG", "payments.eu-west-1", "  1.23M"]


def test_columns_of_zeros_go_first() -> None:
    made = rows("payments.eu-west-1")
    made.of(FitRow)[0].size = 0
    lines = render(made, "table", Terminal(width=78)).splitlines()
    assert "SIZE" not in lines[0]
    assert "HOST" in lines[0]


def test_colours_are_of_statuses_and_titles_only() -> None:
    head, line = render(rows(), "table", Terminal(width=120, color=True)).splitlines()
    assert head.startswith("\x1b[1mNAME")
    assert line.count("\x1b[") == 2
    assert line.endswith("\x1b[31mSTUCK\x1b[0m")


@pytest.mark.parametrize(
    ("text", "width", "cut"),
    [
        ("orders", 6, "orders"),
        ("payments.eu-west-1", 9, "paym…st-1"),
        ("payments.eu-west-1", 2, "p…"),
        ("注文注文注文", 7, "注文…文"),
        ("e\u0301e\u0301e\u0301e\u0301", 4, "e\u0301e\u0301e\u0301e\u0301"),
    ],
)
def test_names_are_cut_in_the_middle_by_cells(text: str, width: int, cut: str) -> None:
    assert middle(text, width) == cut
    assert cells(cut) <= width


def test_lists_are_cut_behind_an_item_and_sentences_at_spaces() -> None:
    assert items("orders:0,orders:1,orders:2", 20) == "orders:0,orders:1 +1"
    assert items("orders:0,orders:1,orders:2", 19) == "orders:0 +2"
    assert items(",".join(f"orders:{n}" for n in range(12)), 12) == "orders:0 +11"
    assert items(",".join(f"orders:{n}" for n in range(12)), 24) == "orders:0,orders:1 +10"
    assert items("payments.eu-west-1:0,orders:1", 9) == "pay…:0 +1"
    assert wrapped("the log starts at payments.eu-west-1", 12) == ["the log", "starts at", "paymen…est-1"]


def test_a_column_says_its_form() -> None:
    forms = {"string": "name", "strings": "list", "object": "sentence", "integer": "", "boolean": "", "duration": ""}
    assert {kind: Column(kind=kind).form for kind in forms} == forms
    assert Column(unit="word").form == ""
