"""Files of offsets: our JSON and Kafka's CSV, back as they went, and what is wrong in them by its place."""

from __future__ import annotations

import json

import pytest

from kcli.admin.groups.offset_files import SCHEMA, csv_text, read, row
from kcli.errors import UsageError
from kcli.model import OffsetAndMetadata, TopicPartition

COMMITS = {
    TopicPartition("orders", 0): OffsetAndMetadata(offset=5, leader_epoch=2, metadata='a "quoted", ä'),
    TopicPartition("orders", 1): OffsetAndMetadata(offset=0),
    TopicPartition("mail", 0): None,
}


def test_json_keeps_everything_and_what_was_not_committed() -> None:
    rows = [row("billing", at, one) for at, one in COMMITS.items()]
    text = json.dumps({"schema": SCHEMA, "taken": [{"time": "now", "cluster_id": "abc"}], "offsets": rows})
    saved = read("\ufeff" + text, "undo.json")
    assert saved.groups == {"billing": COMMITS}
    assert (saved.plain, saved.cluster_id) == (False, "abc")


@pytest.mark.parametrize(("with_group", "group"), [(True, "billing"), (False, "")])
def test_csv_is_kafkas_with_and_without_the_group(with_group: bool, group: str) -> None:
    offsets = [("billing", at, None if commit is None else commit.offset) for at, commit in COMMITS.items()]
    text = csv_text(offsets, with_group=with_group)
    assert text == ("billing,orders,0,5\nbilling,orders,1,0\n" if with_group else "orders,0,5\norders,1,0\n")
    saved = read(text, "g.csv")
    assert saved.groups == {
        group: {
            TopicPartition("orders", 0): OffsetAndMetadata(offset=5),
            TopicPartition("orders", 1): OffsetAndMetadata(offset=0),
        }
    }
    assert saved.plain


def test_csv_may_be_quoted_have_a_header_empty_lines_and_windows_line_ends() -> None:
    text = 'topic,partition,offset\r\n\r\n"orders",0, 5\r\n'
    assert read(text, "g.csv").groups == {"": {TopicPartition("orders", 0): OffsetAndMetadata(offset=5)}}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "f: the file contains no offsets"),
        ("orders,0,5\norders,1\n", "f: line 2: expected TOPIC,PARTITION,OFFSET"),
        ("orders,0,5\nbilling,orders,1,5\n", "f: line 2: expected TOPIC,PARTITION,OFFSET"),
        ("orders,0,-5\n", "f: line 1: expected TOPIC,PARTITION,OFFSET; partition and offset are whole"),
        ("orders,x,5\n", "f: line 1: expected TOPIC,PARTITION,OFFSET; partition and offset are whole"),
        ("orders,2147483648,5\n", "f: line 1: expected TOPIC,PARTITION,OFFSET; partition and offset are whole"),
        ("orders,0,9223372036854775808\n", "f: line 1: expected"),
        ("orders,0,5\norders,0,6\n", "f: line 2: the offset of orders [0] is listed twice"),
        ("\x00\x01", "f: line 1: expected"),
        ("{", "f: not a JSON file with offsets"),
        pytest.param('{"schema":' + "[" * 100_000, "f: not a JSON file with offsets", id="deep"),
        pytest.param("o" * 200_000 + ",0,5", "f: not a CSV file with offsets", id="long"),
        ('{"schema": "S", "taken": [7], "offsets": []}', "f: the file contains no offsets"),
        ('{"schema": "S", "taken": 7, "offsets": []}', "f: the file contains no offsets"),
        ("{}", "f: expected a document of the schema kcli.groups.export/1"),
        ('{"schema": "kcli.lag/1", "offsets": []}', "f: expected a document of the schema"),
        ('{"schema": "S", "offsets": []}', "f: the file contains no offsets"),
        ('{"schema": "S", "offsets": [7]}', "f: offsets[0]: expected topic, partition and offset"),
        ('{"schema": "S", "offsets": [{"topic": "a"}]}', "f: offsets[0]: expected topic, partition and offset"),
        ('{"schema": "S", "offsets": [{"topic": 1, "partition": 0, "offset": 1}]}', "f: offsets[0]: expected a topic"),
        ('{"schema": "S", "offsets": [{"topic": "a", "partition": true, "offset": 1}]}', "f: offsets[0]: expected a t"),
        ('{"schema": "S", "offsets": [{"topic": "a", "partition": 0, "offset": -1}]}', "f: offsets[0]: -1 is not"),
        ('{"schema": "S", "offsets": [{"topic": "a", "partition": 0, "offset": 1.5}]}', "f: offsets[0]: 1.5 is not"),
        (
            '{"schema": "S", "offsets": [{"topic": "a", "partition": 0, "offset": 1, "leader_epoch": "x"}]}',
            "f: offsets[0]: expected leader_epoch to be a number",
        ),
        (
            '{"schema": "S", "offsets": [{"topic": "a", "partition": 0, "offset": 1, "metadata": 7}]}',
            "f: offsets[0]: expected leader_epoch to be a number and metadata to be text",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_told_by_its_place(text: str, wrong: str) -> None:
    with pytest.raises(UsageError) as raised:
        read(text.replace('"S"', f'"{SCHEMA}"'), "f")
    assert str(raised.value).startswith(wrong)
