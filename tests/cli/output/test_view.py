"""--columns, --sort, --top, --no-headers and --wide: which rows and columns of a document are printed."""

from __future__ import annotations

import json

import pytest

from kcli.cli.commands.lag.options import LagOptions
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import render
from kcli.cli.output.tables.rows import Row, column, duration, headed, shape
from kcli.cli.output.tables.shape import DECLARED
from kcli.cli.output.tables.view import View, view
from kcli.cli.parsing.groups import ChangeOptions, ReadOptions, TableOptions
from kcli.cli.parsing.registry import every as every_command
from kcli.cli.runtime.views import view_of
from kcli.errors import UsageError

NAMES = ("b", "a", "C", "d")


class HeadRow(Row, section="cluster"):
    cluster: str = column("Id.")
    lag: int = column("Lag.", unit="count")


class TopicRow(Row, section="topics"):
    topic: str = column("Name.")
    under_replicated: int | None = column("Amount.", unit="count")
    partition: int = column("Id.")
    last_write: str | None = column("When.", unit="time")
    idle: float | None = duration("How long.")
    replicas: list[int] = headed("held by", column("Ids."))
    topic_id: str = column("Id.", table=False)


SHAPE = shape("test.view", "Rows.", HeadRow, TopicRow)
del DECLARED["test.view"]


def document(seen: View) -> Document:
    made = Document(shape=SHAPE, view=seen)
    made.of(HeadRow).append(HeadRow(cluster="c", lag=1))
    figures = ((5, 2, "2026-01-02", 3.0), (None, 0, None, None), (70, 10, "2026-01-03", 1.0), (5, 1, "2026-01-01", 2.0))
    for name, (count, partition, when, idle) in zip(NAMES, figures, strict=True):
        made.of(TopicRow).append(
            TopicRow(
                topic=name,
                under_replicated=count,
                partition=partition,
                last_write=when,
                idle=idle,
                replicas=[partition],
                topic_id=f"id-{name}",
            )
        )
    return made


def names(**wanted: object) -> list[str]:
    """The topics that a line prints, in their order."""
    text = render(document(view(SHAPE, "ndjson", **wanted)), "ndjson")  # type: ignore[arg-type]
    return [json.loads(line)["topic"] for line in text.splitlines()]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("topic", "a b C d"),
        ("topic:desc", "d C b a"),
        ("TOPIC:asc", "a b C d"),
        ("under_replicated", "C b d a"),
        ("under-replicated:asc", "b d C a"),
        ("UNDER REPLICATED:desc", "C b d a"),
        ("partition", "a d b C"),
        ("last_write", "C b d a"),
        ("replicas", "a d C b"),
        ("HELD BY", "a d C b"),
        ("held_by:desc", "b C d a"),
        ("idle", "b d C a"),
        ("idle:asc", "C d b a"),
        ("topic_id", "a b C d"),
    ],
)
def test_amounts_and_times_are_sorted_from_the_largest_the_rest_from_the_least(sort: str, order: str) -> None:
    assert names(sort=sort) == order.split()


def test_rows_without_a_value_come_last_and_equal_ones_keep_their_order() -> None:
    assert names(sort="under_replicated:asc")[-1] == names(sort="under_replicated")[-1] == "a"
    assert names(sort="under_replicated")[1:3] == ["b", "d"]


def test_top_is_the_first_rows_behind_the_sort() -> None:
    assert names(top=2) == ["b", "a"]
    assert names(sort="idle", top=1) == ["b"]


def test_json_keeps_its_shape_and_other_sections_their_rows() -> None:
    whole = json.loads(render(document(view(SHAPE, "json", sort="topic", top=1)), "json"))
    assert list(whole) == ["schema", "ok", "cluster", "topics", "errors"]
    assert [row["topic"] for row in whole["topics"]] == ["a"]
    assert whole["cluster"] == [{"cluster": "c", "lag": 1}]


@pytest.mark.parametrize("format", ["json", "ndjson", "yaml"])
def test_columns_are_for_tables(format: str) -> None:
    with pytest.raises(UsageError, match=f"--columns: {format} has all fields"):
        view(SHAPE, format, columns="topic")


def test_columns_come_in_the_order_that_was_asked_for_and_hidden_ones_too() -> None:
    wanted = view(SHAPE, "csv", columns="topic_id, topic", top=1)
    assert render(document(wanted), "csv") == "topic_id,topic\nid-b,b\n"
    assert render(document(wanted), "tsv") == "topic_id\ttopic\nid-b\tb\n"
    assert render(document(wanted), "plain") == "id-b\tb\n"
    assert render(document(wanted), "table") == "TOPIC ID  TOPIC\nid-b      b\n"


def test_columns_choose_the_table_that_has_them() -> None:
    assert render(document(view(SHAPE, "table", columns="cluster")), "table") == "CLUSTER\nc\n"
    assert render(document(view(SHAPE, "csv", columns="lag,cluster")), "csv") == "lag,cluster\n1,c\n"


def test_no_headers_leaves_titles_out() -> None:
    plain = View(headers=False, columns=("topic",), section="topics")
    assert render(document(plain), "table").splitlines() == ["b", "a", "C", "d"]
    assert render(document(plain), "csv").splitlines() == ["b", "a", "C", "d"]
    assert render(document(plain), "tsv").splitlines() == ["b", "a", "C", "d"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"sort": "topics"}, "--sort: no column 'topics'; did you mean topic"),
        ({"sort": "-idle"}, "--sort -idle: write idle:desc"),
        ({"sort": "+under-replicated"}, "--sort +under-replicated: write under_replicated:asc"),
        ({"columns": "note"}, "--columns: no column 'note'; columns: topic, under_replicated, "),
        ({"columns": "topics"}, "--columns: no column 'topics'; did you mean topic"),
        ({"sort": "topic:up"}, "--sort: no column 'topic:up'"),
        ({"sort": "cluster"}, "--sort: no column 'cluster'"),
        ({"columns": "topic,cluster"}, "--columns: no column 'cluster'"),
        ({"columns": " , "}, "--columns needs names"),
        ({"columns": "cluster", "sort": "topic"}, "--sort: no column 'topic'"),
    ],
)
def test_an_unknown_column_is_refused_with_those_that_there_are(wanted: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        view(SHAPE, "table", **wanted)  # type: ignore[arg-type]
    assert message in str(refused.value)


def test_a_line_says_it() -> None:
    options = LagOptions(columns="topic", sort="topic:desc", top=3, wide=True, no_headers=True)
    assert view_of(options, SHAPE, "table") == View(
        wide=True, headers=False, columns=("topic",), section="topics", sort="topic", descending=True, top=3
    )
    assert view_of(TableOptions(wide=True)) == View(wide=True)


NO_LISTS = {
    "count": "a number, or one of each topic: `offsets --watch` follows the ends",
    "copy": "the outcome of a copy",
    "topics create": "the outcome of a change",
    "groups export": "a file that `groups reset` reads",
    "registry check": "a verdict",
    "registry export": "a folder or a file that `registry import` reads",
    "config check": "a verdict, which asks each cluster",
    "doctor": "steps in their order",
    "tokens create": "a token, which is shown once",
    "tokens renew": "the outcome of a change",
    "reassign plan": "a file that `reassign execute` reads",
    "reassign verify": "it removes throttles: `reassign list` follows the moves",
    **{
        f"pipeline {verb}": "the outcome or the progress of a job"
        for verb in "export import copy doctor sql profile replay run".split()
    },
}
"""Commands that print tables and are no lists, and why."""
LIST_OPTIONS = {"--sort", "--top", "--columns", "--wide", "--no-headers", "--watch", "--interval", "--refreshes"}


def test_every_list_takes_them_and_no_plan_does() -> None:
    """A plan that shows some of its rows would hide what else is done."""
    lists = set()
    for path, command in every_command():
        flags = command.by_flag
        if "--format" not in flags or "table" not in flags["--format"].choices:
            continue
        if "--execute" in flags:
            assert not {"--sort", "--columns"} & flags.keys(), path
        elif path not in NO_LISTS:
            assert not LIST_OPTIONS - {"--refreshes" if path == "groups peek" else ""} - flags.keys(), path
            lists.add(path)
    assert len(lists) > 40
    assert {"faults", "raw", "config list", "config show", "config current", "lag"} <= lists
    assert not NO_LISTS.keys() - {path for path, _ in every_command()}
    assert not issubclass(ChangeOptions, ReadOptions)
