"""Filters of copy and redrive, and times in values, see what a registry's schemas decode; the bytes stay as stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shell

EVENT = {
    "type": "record",
    "name": "Event",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "text", "type": "string"},
    ],
}
SIZE = 200
FAULT = b"\0\0\0\0\x3fxx"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "ids").mkdir()
    (tmp_path / "ids" / "7.avsc").write_text(json.dumps(EVENT))
    (tmp_path / "ids" / "8.avsc").write_text('"string"')
    return f"file:{tmp_path}"


@pytest.fixture
def source(kcli: Shell, folder: str) -> str:
    """Records with an id, a minute each, and a name of two for a key; behind them one that no schema reads."""
    name = kcli.topic(1)
    rows = [
        json.dumps(["bo", "ann"][n % 2]) + "\t" + json.dumps({"id": n, "at": stamp(n), "text": f"t{n}"})
        for n in range(SIZE)
    ]
    schemas = ("--schema-registry", folder, "--value-schema", "id:7", "--key-schema", "id:8")
    kcli.ok("produce", name, "-K", "\t", *schemas, stdin="\n".join(rows).encode())
    kcli.ok("produce", name, "--whole", stdin=FAULT)
    return name


def stamp(minute: int) -> str:
    return f"2026-11-01T{minute // 60:02}:{minute % 60:02}:00.000Z"


def stored(kcli: Shell, topic: str) -> list[bytes]:
    """Key and value as they are stored, an envelope a line, without what a copy changes."""
    lines = [json.loads(line) for line in kcli.ok("consume", topic, "-e", "--envelope").splitlines()]
    return [json.dumps([line["key"], line["value"], line["timestamp"]]).encode() for line in lines]


FILTERS = {
    "--where value.id<20": range(20),
    "--where key=='ann' --where value.id<6": [1, 3, 5],
    "--key ann --grep t19": [19, 191, 193, 195, 197, 199],
    "--key-grep bo --where value.text=='t8'": [8],
    "--where value.id>=0": range(SIZE),
}


@pytest.mark.parametrize("line", FILTERS)
def test_a_copy_filters_what_is_decoded_and_copies_what_is_stored(
    kcli: Shell, source: str, folder: str, line: str
) -> None:
    target = kcli.topic(1)
    whole = stored(kcli, source)
    done = kcli("copy", source, target, "--schema-registry", folder, *line.split())
    assert done.returncode == 0
    assert stored(kcli, target) == [whole[n] for n in FILTERS[line]]
    assert b"1 value could not be decoded and is filtered as stored: 1 \xc3\x97 " in done.stderr
    assert f"(the first: {source}[0] offset {SIZE})".encode() in done.stderr
    raw = kcli.topic(1)
    kcli.ok("copy", source, raw, "-q", "--schema-registry", folder, "--raw-value", *line.split())
    assert stored(kcli, raw) == []


def test_a_copy_cuts_a_batch_that_was_decoded_at_its_range_and_its_limit(kcli: Shell, source: str, folder: str) -> None:
    target, whole = kcli.topic(1), stored(kcli, source)
    words = ("--schema-registry", folder, "-q", "--where", "value.id != 12")
    kcli.ok("copy", source, target, *words, "-o", "10:20", "-n", "5")
    assert stored(kcli, target) == [whole[n] for n in (10, 11, 13, 14, 15)]
    kcli.ok("copy", source, target, *words, "-o", "10:20")
    assert stored(kcli, target)[5:] == [whole[n] for n in (16, 17, 18, 19)], "it resumes behind the limit"


def test_a_filter_of_what_is_decoded_has_a_progress_of_its_own(kcli: Shell, source: str, folder: str) -> None:
    words = (source, kcli.topic(1), "--where", "value.id < 20", "-J", "-q")
    names = [
        json.loads(kcli.ok("copy", *words, *more))["copies"][0]["group"]
        for more in ([], ["--schema-registry", folder], ["--schema-registry", folder, "--raw-value"])
    ]
    assert names[0] == names[2] != names[1]


def test_a_filter_of_headers_asks_no_registry(kcli: Shell, source: str) -> None:
    target = kcli.topic(1)
    kcli.ok("copy", source, target, "--header", "nix", "--schema-registry", "http://127.0.0.1:1")
    assert stored(kcli, target) == []


def test_redrive_filters_what_is_decoded_and_sends_what_is_stored(kcli: Shell, source: str, folder: str) -> None:
    target, whole = kcli.topic(1), stored(kcli, source)
    words = ("redrive", source, "--to", target, "--execute", "--where", "value.id >= 195", "--key", "ann")
    done = kcli(*words, "--schema-registry", folder)
    assert done.returncode == 0
    assert b"is filtered as stored" in done.stderr
    assert stored(kcli, target) == [whole[n] for n in (195, 197, 199)]
    raw = kcli(*words, "--schema-registry", folder, "--raw-value")
    assert b"201 records read: 0 redriven, 201 left out" in raw.stderr


def test_a_range_of_times_is_searched_in_decoded_values(kcli: Shell, source: str, folder: str) -> None:
    words: tuple[str, ...] = ("--schema-registry", folder, "--time-field", "at", "--start", stamp(60))
    words += ("--end", stamp(63))
    counted = kcli("count", source, *words)
    assert counted.stdout == b"3\n"
    assert f"the newest record, {source}[0] offset {SIZE}, has no time in at".encode() in counted.stderr
    words += ("-q",)
    lines = kcli.ok("consume", source, "-e", *words).splitlines()
    assert [json.loads(line)["id"] for line in lines] == [60, 61, 62]
    assert stored_ids(kcli.ok("consume", source, "-e", "-J", *words)) == [60, 61, 62]
    assert kcli.ok("count", source, *words, "--where", "value.id > 61") == b"1\n"
    raw = kcli("count", source, *words, "--raw-value")
    assert (raw.returncode, raw.stdout) == (1, b"")


def test_commands_that_look_for_a_time_read_decoded_values(kcli: Shell, source: str, folder: str) -> None:
    named = ("-X", f"schema.registry.url={folder}", "--time-field", "at", "-q")
    lines = {
        ("offsets", source, "--at", stamp(60)): {"at_offset": 60},
        ("rollback", source, "-t", source, "--start", stamp(61), "--dry-run"): {"old": 3, "new": 61},
        ("groups", "reset", source, "-t", source, "--to-datetime", stamp(62), "--dry-run"): {
            "old": 3,
            "new": 62,
        },
    }
    assert kcli("consume", source, "-g", source, "-c", "3", "-q").returncode == 0
    for line, expected in lines.items():
        document = json.loads(kcli.ok(*line, *named, "-J"))
        (row,) = next(rows for rows in document.values() if isinstance(rows, list) and rows)
        assert {name: row[name] for name in expected} == expected, line
    raw = kcli("offsets", source, "--at", stamp(60), "--time-field", "at", "-q")
    assert b"is neither JSON, msgpack nor the query of a URL" in raw.stderr


def stored_ids(envelopes: bytes) -> list[int]:
    return [json.loads(line)["value"]["id"] for line in envelopes.splitlines()]


def test_keys_that_a_schema_decodes_are_meant_without_quotes(kcli: Shell, source: str, folder: str) -> None:
    assert kcli.ok("count", source, "-q", "--schema-registry", folder, "--key", "ann") == b"100\n"
    assert kcli.ok("count", source, "-q", "--schema-registry", folder, "--where", "key == 'ann'") == b"100\n"
    assert kcli.ok("count", source, "-q", "--raw-value", "--key", "ann") == b"0\n"


def test_another_registry_has_a_progress_of_its_own(kcli: Shell, source: str, folder: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "ids").mkdir(parents=True)
    text = json.dumps(EVENT).replace('"id"', '"nr"')
    (other / "ids" / "7.avsc").write_text(text)
    for words, target in (
        (("copy", source, copied := kcli.topic(1)), copied),
        (("redrive", source, "--to", sent := kcli.topic(1), "--execute"), sent),
    ):
        line = (*words, "--where", "value.id < 20")
        assert kcli(*line, "--schema-registry", f"file:{other}").returncode == 0
        assert stored(kcli, target) == []
        done = kcli(*line, "--schema-registry", folder)
        assert (done.returncode, b"resuming" in done.stderr, b"starts over" in done.stderr) == (0, False, False)
        assert len(stored(kcli, target)) == 20


@pytest.mark.parametrize("command", ["copy", "redrive"])
def test_a_registry_that_comes_later_starts_over_and_it_is_said(kcli: Shell, folder: str, command: str) -> None:
    source, target = kcli.topic(1), kcli.topic(1)
    kcli.ok("produce", source, stdin=b'{"id": 1}\n{"id": 2}\n')
    words = [command, source, *(["--to", target, "--execute"] if command == "redrive" else [target])]
    words += ["--where", "value.id > 1"]
    assert kcli(*words).returncode == 0
    later = (*words, "-X", f"schema.registry.url={folder}")
    done = kcli(*later, "-c", "0").stderr.decode()
    assert f"filters now see what {folder.removeprefix('file:')} decodes, so this run starts over; --group " in done
    before = done.split("--group ")[1].split()[0]
    assert b"resuming after 2 offsets" in kcli(*later, "--group", before).stderr
    assert len(stored(kcli, target)) == 1
    assert kcli(*later).returncode == 0
    assert b"filters now see" not in kcli(*later).stderr
    assert b"filters now see" not in kcli(*words).stderr


@pytest.mark.parametrize("command", ["copy", "redrive"])
def test_what_a_filter_saw_undecoded_may_be_a_failure(kcli: Shell, source: str, folder: str, command: str) -> None:
    target = kcli.topic(1)
    words = [command, source, *(["--to", target, "--execute"] if command == "redrive" else [target]), "-q"]
    words += ["--schema-registry", folder, "--fail-on-undecoded"]
    assert kcli(*words, "--where", "value.id == 3").returncode == 1
    assert len(stored(kcli, target)) == 1
    assert kcli(*words, "--where", "key == 'ann'", "-o", f":{SIZE}").returncode == 0
    line = ["copy", source, target, "--schema-registry", folder, "--where", "value.id == 3", "--dry-run", "--restart"]
    dry = kcli(*line)
    assert b"1 value could not be decoded and is filtered as stored" in dry.stderr


def test_an_expression_for_keys_sees_a_decoded_key_without_quotes_and_a_stored_one_as_it_is(
    kcli: Shell, source: str, folder: str
) -> None:
    kcli.ok("produce", source, "-K", "\t", stdin=b'"q"\tplain\nann\tplain\n')
    counts = {
        ("--key-grep", "^ann$"): 101,
        ("--key", "ann"): 101,
        ("--where", "key == 'ann'"): 101,
        ("--key-grep", '^"q"$'): 1,
        ("--key", '"q"'): 1,
        ("--where", "key == '\"q\"'"): 1,
        ("--key-grep", "^q$"): 0,
        ("--key", "q"): 0,
        ("--where", "key == 'q'"): 0,
        ("--key-grep", '"'): 1,
    }
    for words, expected in counts.items():
        assert int(kcli.ok("count", source, "-q", "--schema-registry", folder, *words)) == expected, words
