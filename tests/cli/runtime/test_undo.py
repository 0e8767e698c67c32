"""Undo files as `restore` commands read them: one reader, one sentence for each thing that is wrong."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kcli.acls import Acl
from kcli.cli.commands.acls import undo as acls_undo
from kcli.cli.commands.configs import undo as configs_undo
from kcli.cli.commands.quotas import undo as quotas_undo
from kcli.errors import UsageError

READERS: dict[str, Callable[[str], object]] = {
    "acls": acls_undo.read, "configs": configs_undo.read, "quotas": quotas_undo.read,
}  # fmt: skip
NOUNS = {"acls": "ACLs", "configs": "configs", "quotas": "quotas"}
ACL = dict(zip(Acl._fields, ("topic", "orders", "literal", "User:a", "*", "read", "allow")))


@pytest.mark.parametrize("subject", READERS)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "Expecting property name"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "expected a JSON object"),
        ("{}", "schema is missing"),
        ('{"schema": "kcli.other/1"}', "its schema is kcli.other/1, expected kcli."),
        ('{"schema": "kcli.SUBJECT.undo/1"}', " is missing"),
        ('{"schema": "kcli.SUBJECT.undo/1", "added": [{}], "configs": [{}], "quotas": [{}]}', "[0]."),
        ('{"schema": "kcli.SUBJECT.undo/1", "added": 3, "configs": 3, "quotas": 3}', ": expected a list"),
        (b"\xff", "utf-8"),
    ],
    ids=str,
)
def test_what_is_no_undo_file_is_a_usage_error(subject: str, text: str | bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "undo.json"
    path.write_bytes(text if isinstance(text, bytes) else text.replace("SUBJECT", subject).encode())
    with pytest.raises(UsageError) as raised:
        READERS[subject](str(path))
    assert str(raised.value).startswith(f"{path}: not an undo file of {NOUNS[subject]} (")
    assert says in str(raised.value)


@pytest.mark.parametrize("subject", READERS)
def test_a_file_that_is_not_there_is_named(subject: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none: No such file or directory$"):
        READERS[subject](str(tmp_path / "none"))


def test_ACLs_are_read_from_stdin_and_from_a_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    undo = {"schema": "kcli.acls.undo/1", "added": [], "removed": [ACL]}
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(undo)))
    assert acls_undo.read("-") == ([], [Acl(**ACL)])
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"schema": "kcli.acls.list/1", "acls": [ACL, ACL]}))
    assert acls_undo.listed(str(path)) == [Acl(**ACL)]
    with pytest.raises(UsageError, match=r"its schema is kcli\.acls\.list/1, expected kcli\.acls\.undo/1"):
        acls_undo.read(str(path))


def test_a_row_of_ACLs_has_texts(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"schema": "kcli.acls.list/1", "acls": [{**ACL, "host": 1}]}))
    with pytest.raises(UsageError, match=r"acls\[0\]\.host: expected a text"):
        acls_undo.listed(str(path))


@pytest.mark.parametrize("value", ['"5"', "true", "[]"])
def test_the_value_of_a_quota_is_a_number(value: str, tmp_path: Path) -> None:
    path = tmp_path / "undo.json"
    row = f'{{"entity": {{"user": "a"}}, "quota": "producer_byte_rate", "value": {value}}}'
    path.write_text(f'{{"schema": "kcli.quotas.undo/1", "quotas": [{row}]}}')
    with pytest.raises(UsageError, match=r"quotas\[0\]\.value: expected a number or null"):
        quotas_undo.read(str(path))
