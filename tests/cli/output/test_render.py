"""Formats, golden: what a script reads today it can read tomorrow."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kcli.admin.groups.rows import Described
from kcli.cli.commands.lag.lag import SHAPES, fill
from kcli.cli.commands.lag.measured import GroupRow, measure
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import _defused, render, write
from kcli.cli.output.tables.shape import every
from kcli.cli.output.terminal import Terminal
from kcli.cli.parsing.groups import FORMATS
from kcli.errors import ConnectError
from kcli.lag.figures import Sample
from kcli.lag.snapshot import GroupSnapshot
from tests.cli.output import snapshots
from tests.cli.shapes import shape

GOLDEN = Path(__file__).parents[1] / "golden"
EVIL = 'a\x1b]0;x\x07\u202eb\tc\nd,"e" – é'


def members(client: str = "app", instance: str | None = None) -> Document:
    row = {
        "group": "billing",
        "member_id": "m-1",
        "instance_id": instance,
        "client_id": client,
        "host": "10.0.0.1",
        "partitions": 2,
        "assignment": ["orders:0", "orders:1"],
        "epoch": None,
        "rack": None,
        "subscribed": ["orders"],
        "tasks": None,
    }
    return Document(shape=shape("groups.members"), rows={"members": [row]})


@pytest.mark.parametrize("format", FORMATS)
def test_each_format_is_as_it_was(format: str) -> None:
    document = members()
    document.fail(ConnectError("broker 2 is down"), "broker 2")
    golden = GOLDEN / f"members.{format}"
    assert render(document, format) == golden.read_text()


def test_columns_are_as_they_were_or_the_version_was_raised() -> None:
    then = json.loads(snapshots.SHAPES.read_text())
    assert json.dumps(snapshots.shapes()) == json.dumps(then), snapshots.REMADE


def test_shapes_have_names_of_their_own_and_a_main_section() -> None:
    assert len({one.name for one in every()}) == len(every())
    for one in every():
        names = [column.name for column in one.main.columns]
        assert len(set(names)) == len(names)
        assert one.main.table


def test_a_lag_that_leaves_out_partitions_is_a_lower_bound_in_tables() -> None:
    samples = [Sample(topic="t", committed=1, end=12_346, start=0), Sample(topic="t", partition=1, error="no leader")]
    document = Document(shape=SHAPES["group"])
    fill(document, [measure(GroupSnapshot(described=Described(group="g"), samples=samples))], "group")
    assert " ≥ 12345 " in render(document, "table")
    assert " ≥ 12.3k " in render(document, "table", Terminal(width=200))
    (row,) = json.loads(render(document, "json"))["groups"]
    assert (row["lag"], row["unknown"]) == (12_345, 1)
    document.of(GroupRow)[0].unknown = 0
    assert "≥" not in render(document, "table") + render(document, "table", Terminal(width=200))


def test_piped_tables_have_no_colour_and_no_box() -> None:
    text = render(members(), "table")
    assert all(c.isprintable() or c == "\n" for c in text)
    assert not set("│┃┏━─╭\x1b") & set(text)


@pytest.mark.parametrize("format", FORMATS)
def test_R3_4_a_terminal_gets_no_control_byte_that_data_brought(format: str) -> None:
    text = render(members(EVIL), format, terminal=Terminal(width=200))
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


@pytest.mark.parametrize("format", ["csv", "tsv", "plain"])
def test_R3_4_a_pipe_gets_the_bytes(format: str) -> None:
    assert "\x1b]0;x\x07" in render(members(EVIL), format)


def test_json_ndjson_and_yaml_keep_every_value() -> None:
    document = members(EVIL)
    (row,) = document.rows["members"]
    assert json.loads(render(document, "json"))["members"] == [row]
    assert json.loads(render(document, "json", terminal=Terminal(width=200)))["members"][0]["client_id"] != ""
    assert json.loads(render(document, "ndjson")) == row


def test_csv_is_read_back_by_csv() -> None:
    (head, row) = csv.reader(io.StringIO(render(members(EVIL), "csv")))
    assert dict(zip(head, row, strict=True))["client_id"] == EVIL


def test_tsv_and_plain_have_one_line_a_row_whatever_the_values() -> None:
    lines = render(members(EVIL), "tsv").splitlines()
    assert [len(line.split("\t")) for line in lines] == [11, 11]


def test_an_empty_answer_is_a_document_and_no_table() -> None:
    document = Document(shape=shape("topics.list"), rows={"topics": []})
    assert render(document, "table") == ""
    assert json.loads(render(document, "json")) == {
        "schema": "kcli.topics.list/1",
        "ok": True,
        "topics": [],
        "errors": [],
    }
    assert render(document, "csv").count("\n") == 1


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_table_on_a_terminal_is_drawn_without_markup_or_escapes_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    out = Screen()
    write(members("[bold]" + EVIL), "table", out)
    text = out.getvalue()
    assert "[bold]a\\x1b]0;x\\x07\\u202eb" in text
    assert "\x1b]0" not in text
    assert "\u202e" not in text


def test_NO_COLOR_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = Screen()
    write(Document(shape=shape("groups.delete"), rows={"groups": [{"group": "g", "result": "failed"}]}), "table", out)
    assert "\x1b[3" not in out.getvalue()


@pytest.mark.process
def test_rows_are_written_as_utf8_whatever_the_locale() -> None:
    program = (
        "from kcli.cli.output.tables.document import Document; from kcli.cli.output.tables.render import write;"
        "from tests.cli.shapes import shape;"
        "write(Document(shape=shape('topics.delete'), rows={'topics': [{'topic': 'é', 'result': 'x'}]}), 'table')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert "é" in done.stdout.decode()
    assert "–" in done.stdout.decode()


PACKAGES = {"kcli.cli.commands.topics", "kcli.cli.commands.groups", "kcli.cli.commands.lag"}  # a line each


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "module"), [(("topics", "list"), "topics"), (("groups", "list"), "groups"), (("lag",), "lag")]
)
def test_a_plain_command_line_imports_its_own_module_and_no_typer(words: tuple[str, ...], module: str) -> None:
    program = (
        "import sys; from kcli.cli.main import main\n"
        f"code = main([*{words!r}, '-b', '127.0.0.1:1', '-X', 'socket.connection.setup.timeout.ms=100'])\n"
        "print(code, *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    code, *loaded = done.stdout.split()
    assert code == "5", done.stderr
    roots = {name.split(".")[0] for name in loaded}
    assert not roots & {"typer", "rich", "pydantic", "dataclasses", "typing", "logging", "difflib"} - hidden_roots()
    others = {"topics", "groups", "lag", "drawn", "schema"} - {module}
    assert not {f"kcli.cli.{other}{tail}" for other in others for tail in ("", ".command")} & (set(loaded) - PACKAGES)
    assert not {"kcli.consumer", "kcli.producer"} & set(loaded)


def hidden_roots() -> set[str]:
    """What asyncio itself imports, which is not ours to judge."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys, asyncio; print(*sys.modules)"], capture_output=True, check=True, text=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_csv_safe_defuses_what_a_spreadsheet_would_run() -> None:
    """Texts only: a number stays one."""
    made = Document(shape=shape("groups.list"))
    names = ["=1+1", "+x", "-x", "@x", "\tx", "a=b", "plain"]
    made.rows["groups"] = [
        {column.name: None for column in made.shape.main.columns} | {"group": name} for name in names
    ]
    cells = [line[0] for line in csv.reader(io.StringIO(render(made, "csv-safe")))][1:]
    assert cells == ["'=1+1", "'+x", "'-x", "'@x", "'\tx", "a=b", "plain"]
    assert [line[0] for line in csv.reader(io.StringIO(render(made, "csv")))][1:] == names
    assert _defused(-5) == "-5"
    assert _defused(["=x"]) == "'=x"


@pytest.mark.parametrize(("begun", "sent", "code"), [(True, True, 1), (True, False, 5), (False, True, 5)])
def test_a_change_that_may_have_been_done_is_not_said_to_be_undone(begun: bool, sent: bool, code: int) -> None:
    document = Document(shape=shape("topics.delete"), begun=begun)
    document.fail(ConnectError("the connection broke", sent=sent))
    assert document.exit_code == code
