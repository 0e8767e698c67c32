"""`kcli undo FILE`: one reader, one sentence for each thing that is wrong."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from kcli.acls import Acl
from kcli.cli.commands.acls.change import listed
from kcli.cli.main import main
from kcli.errors import UsageError

SUBJECTS = ("acls", "configs", "quotas")
ACL = dict(zip(Acl._fields, ("topic", "orders", "literal", "User:a", "*", "read", "allow")))


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "Expecting property name"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "expected a JSON object"),
        ("{}", "its schema is None"),
        ('{"schema": "kcli.other/1"}', "its schema is kcli.other/1"),
        ('{"schema": "kcli.SUBJECT.undo/1"}', " is missing"),
        ('{"schema": "kcli.SUBJECT.undo/1", "added": [{}], "configs": [{}], "quotas": [{}]}', "[0]."),
        ('{"schema": "kcli.SUBJECT.undo/1", "added": 3, "configs": 3, "quotas": 3}', ": expected a list"),
        (b"\xff", "utf-8"),
    ],
    ids=str,
)
def test_what_is_no_undo_file_is_a_usage_error(
    subject: str, text: str | bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "undo.json"
    path.write_bytes(text if isinstance(text, bytes) else text.replace("SUBJECT", subject).encode())
    assert main(["undo", str(path), "--execute"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"kcli: {path}: not an undo file (")
    assert says in said


def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["undo", str(tmp_path / "none")]) == 2
    assert "none: No such file or directory" in capsys.readouterr().err


def test_ACLs_are_read_from_stdin_and_from_a_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    undo = {"schema": "kcli.acls.undo/1", "added": [], "removed": [ACL]}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(undo).encode())))
    assert listed("-") == [Acl(**ACL)]
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"schema": "kcli.acls.list/1", "acls": [ACL, ACL]}))
    assert listed(str(path)) == [Acl(**ACL)]
    path.write_text(json.dumps({"schema": "kcli.quotas.undo/1", "acls": []}))
    with pytest.raises(UsageError, match=r"its schema is kcli\.quotas\.undo/1, expected kcli\.acls"):
        listed(str(path))


def test_a_row_of_ACLs_has_texts(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"schema": "kcli.acls.list/1", "acls": [{**ACL, "host": 1}]}))
    with pytest.raises(UsageError, match=r"acls\[0\]\.host: expected a text"):
        listed(str(path))


@pytest.mark.parametrize("value", ['"5"', "true", "[]"])
def test_the_value_of_a_quota_is_a_number(value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "undo.json"
    row = f'{{"entity": {{"user": "a"}}, "quota": "producer_byte_rate", "value": {value}}}'
    path.write_text(f'{{"schema": "kcli.quotas.undo/1", "quotas": [{row}]}}')
    assert main(["undo", str(path)]) == 2
    assert "quotas[0].value: expected a number or null" in capsys.readouterr().err
