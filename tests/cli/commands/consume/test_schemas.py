"""`consume`, `tail` and `count` of topics with schemas: by a folder in place of a registry, and by one over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from grpc_tools import protoc

from kcli.proto import core
from tests.cli.conftest import Shell

NOTE = '{"type":"record","name":"N","fields":[{"name":"id","type":"int"},{"name":"text","type":"string"}]}'
VALUES = [b"\0\0\0\0\7\x0e\4hi", b"\0\0\0\0\7\2\2x", b"\0\0\0\0\5\2\2x", b"plain"]
SHOWN = b'{"id":7,"text":"hi"}\n{"id":1,"text":"x"}\n\0\0\0\0\5\2\2x\nplain\n'
SAID = b"1 value could not be decoded and is shown as stored: 1 \xc3\x97 "


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "ids").mkdir()
    (tmp_path / "ids" / "7.avsc").write_text(NOTE)
    return f"file:{tmp_path}"


@pytest.fixture
def topic(kcli: Shell) -> str:
    name = kcli.topic(1)
    for value in VALUES:
        kcli.ok("produce", name, "--whole", stdin=value)
    return name


class Registry(BaseHTTPRequestHandler):
    """Schema 7, and no other."""

    status = 0
    """Of every answer, where it is not 0."""

    def do_GET(self) -> None:
        known = self.path.startswith("/schemas/ids/7")
        body = json.dumps({"schema": NOTE} if known else {"error_code": 40403, "message": "Schema not found"}).encode()
        self.send_response(self.status or (200 if known else 404))
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_values_are_decoded_and_what_is_not_is_shown_and_said(kcli: Shell, topic: str, folder: str) -> None:
    done = kcli("consume", topic, "-e", "--schema-registry", folder)
    assert (done.returncode, done.stdout) == (0, SHOWN)
    assert SAID in done.stderr
    assert f"(the first: {topic}[0] offset 2)".encode() in done.stderr
    assert kcli("consume", topic, "-e", "-q", "--schema-registry", folder).stderr == b""


def test_a_registry_over_http(kcli: Shell, topic: str, url: str) -> None:
    done = kcli("consume", topic, "-e", "--schema-registry", url)
    assert (done.returncode, done.stdout) == (0, SHOWN)
    assert SAID in done.stderr


def test_the_next_run_reads_a_schema_from_the_cache_folder(
    kcli: Shell, topic: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kcli.registry.lookup.lasting", lambda _: True)  # else none on this machine is kept
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    words = ("consume", topic, "-e", "-c", "2", "--schema-registry")
    assert kcli(*words, url, "--no-schema-cache").stdout.count(b"\n") == 2
    assert list(tmp_path.iterdir()) == []
    read = kcli(*words, url).stdout
    (file,) = (tmp_path / "kcli" / "schemas").iterdir()
    monkeypatch.setattr(Registry, "do_GET", lambda self: self.send_error(500))
    assert kcli(*words, url).stdout == read
    assert file.exists()


def test_a_property_names_the_registry_and_raw_value_leaves_it_alone(kcli: Shell, topic: str, folder: str) -> None:
    named = ["-X", f"schema.registry.url={folder}"]
    assert kcli.ok("consume", topic, "-e", "-q", *named) == SHOWN
    assert kcli.ok("consume", topic, "-e", *named, "--raw-value") == b"".join(value + b"\n" for value in VALUES)


def test_filters_see_what_is_decoded_and_envelopes_hold_what_is_stored(kcli: Shell, topic: str, folder: str) -> None:
    decoded = ["--schema-registry", folder, "-q"]
    where = ["--where", "value.id == 7"]
    assert kcli.ok("consume", topic, "-e", *decoded, *where) == SHOWN.splitlines(keepends=True)[0]
    assert kcli.ok("count", topic, *decoded, *where) == b"1\n"
    assert kcli.ok("count", topic, *decoded) == b"4\n"
    (envelope,) = kcli.ok("consume", topic, "-e", "--envelope", *decoded, *where).splitlines()
    assert json.loads(envelope)["value"] == VALUES[0].decode()
    assert kcli.ok("tail", topic, "-n", "3", "-e", *decoded, *where) == SHOWN.splitlines(keepends=True)[0]
    assert kcli.ok("consume", topic, "-e", "-f", "%o %s;", "--grep", "hi", *decoded) == b'0 {"id":7,"text":"hi"};'


def test_a_value_that_a_rule_for_reading_refuses_is_shown_as_stored(kcli: Shell, topic: str, folder: str) -> None:
    rule = {"name": "seven", "type": "CEL", "kind": "CONDITION", "mode": "READ", "expr": "message.id == 7"}
    rules = json.dumps({"ruleSet": {"domainRules": [rule]}})
    (Path(folder.removeprefix("file:")) / "ids" / "7.meta.json").write_text(rules)
    line = ["consume", topic, "-e", "-c", "2", "--schema-registry", folder, "--no-schema-cache"]
    read = kcli(*line)
    assert (read.returncode, read.stdout) == (0, b'{"id":7,"text":"hi"}\n\0\0\0\0\7\2\2x\n')
    assert b"refused by the rule seven: message.id == 7" in read.stderr
    assert kcli(*line, "--fail-on-undecoded").returncode == 1
    assert kcli.ok(*line, "-q", "--without-rules") == b'{"id":7,"text":"hi"}\n{"id":1,"text":"x"}\n'
    assert kcli.ok("count", topic, *line[5:], "-q", "--where", "value.id == 1") == b"0\n"


@pytest.mark.parametrize("line", ["consume T -e", "consume T -e -J", "tail T -e", "count T --grep x"])
def test_fail_on_undecoded(kcli: Shell, topic: str, folder: str, line: str) -> None:
    words = line.replace("T", topic, 1).split()
    assert kcli(*words, "--schema-registry", folder, "--fail-on-undecoded").returncode == 1
    assert kcli(*words, "--schema-registry", folder).returncode == 0


def test_a_registry_that_is_gone_ends_nothing(kcli: Shell, topic: str) -> None:
    done = kcli("consume", topic, "-e", "--schema-registry", "http://127.0.0.1:1")
    assert (done.returncode, done.stdout) == (0, b"".join(value + b"\n" for value in VALUES))
    assert b"3 values could not be decoded and are shown as stored" in done.stderr


@pytest.mark.parametrize("url", ["", "localhost:8081", "ftp://host"])
def test_an_address_that_is_none(kcli: Shell, url: str) -> None:
    done = kcli("consume", "t", "-e", "--schema-registry", url)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)


BARE = b"\x0e\4hi"


def test_a_schema_from_a_file_reads_bare_values_and_framed_ones(kcli: Shell, folder: str) -> None:
    spec = f"{folder}/ids/7.avsc"
    for payload, undecoded in ((BARE, b""), (VALUES[0], b""), (b"nonsense", b"1 value could not be decoded")):
        name = kcli.topic(1)
        kcli.ok("produce", name, "--whole", stdin=payload)
        done = kcli("consume", name, "-e", "--value-schema", spec)
        assert (done.returncode, undecoded in done.stderr) == (0, True)
        assert done.stdout == (payload + b"\n" if undecoded else SHOWN.splitlines(keepends=True)[0])


def test_a_schema_by_its_id_or_subject(kcli: Shell, folder: str) -> None:
    subject = Path(folder.removeprefix("file:"), "subjects", "notes-value")
    subject.mkdir(parents=True)
    (subject / "1.avsc").write_text(NOTE)
    name = kcli.topic(1)
    kcli.ok("produce", name, "-k", "k", "--whole", stdin=BARE)
    for spec in ("id:7", "notes-value", "notes-value@1", "notes-value@latest"):
        line = ["consume", name, "-e", "--schema-registry", folder, "--value-schema", spec]
        assert kcli.ok(*line) == SHOWN.splitlines(keepends=True)[0]
    missing = kcli("consume", name, "-e", "--schema-registry", folder, "--value-schema", "topic")
    assert (missing.returncode, missing.stdout) == (1, b"")
    assert f"{name}-value".encode() in missing.stderr


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("file:", "write file:PATH"),
        ("file:/nowhere.avsc", "No such file"),
        ("id:x", "no registry is set"),
        ("orders-value", "no registry is set"),
    ],
)
def test_a_schema_that_is_not_to_be_had(kcli: Shell, spec: str, says: str) -> None:
    done = kcli("consume", "t", "-e", "--value-schema", spec)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert says.encode() in done.stderr


@pytest.mark.parametrize("spec", ["id:x", "s@x", "@1"])
def test_a_spec_that_is_none(kcli: Shell, folder: str, spec: str) -> None:
    done = kcli("consume", "t", "-e", "--schema-registry", folder, "--value-schema", spec)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)


PROTO = 'syntax = "proto3"; message M { int64 user_id = 1; string text = 2; } message N { M m = 1; }'


def test_protobuf_by_a_file_and_by_a_folder(kcli: Shell, tmp_path: Path) -> None:
    name = kcli.topic(1)
    (tmp_path / "ids").mkdir()
    file = tmp_path / "ids" / "3.proto"
    file.write_text(PROTO)
    for value in (b"\0\0\0\0\3\0\x08\7", b"\0\0\0\0\3\2\2\x0a\4\x12\2hi"):
        kcli.ok("produce", name, "--whole", stdin=value)
    shown = b'{"user_id":"7"}\n{"m":{"text":"hi"}}\n'
    folder = ["--schema-registry", f"file:{tmp_path}"]
    assert kcli.ok("consume", name, "-e", *folder) == shown
    assert kcli.ok("consume", name, "-e", "--value-schema", f"file:{file}") == shown
    assert kcli.ok("consume", name, "-e", *folder, "--proto-names", "json", "-c", "1") == b'{"userId":"7"}\n'
    assert kcli.ok("count", name, *folder, "--where", "value.m.text == 'hi'") == b"1\n"
    assert kcli.ok("tail", name, "-e", *folder, "--grep", "hi", "-f", "%o") == b"1"


def test_bare_protobuf_by_the_name_of_its_message(kcli: Shell, tmp_path: Path) -> None:
    name = kcli.topic(1)
    file = tmp_path / "m.proto"
    file.write_text(PROTO)
    kcli.ok("produce", name, "--whole", stdin=b"\x0a\4\x12\2hi")
    assert kcli.ok("consume", name, "-e", "--value-schema", f"file:{file}#N") == b'{"m":{"text":"hi"}}\n'
    undecoded = kcli("consume", name, "-e", "--value-schema", f"file:{file}", "--fail-on-undecoded")
    assert undecoded.returncode == 0, "any message reads it: its fields are unknown ones"
    wrong = kcli("consume", name, "-e", "--value-schema", f"file:{file}#Nil")
    assert (wrong.returncode, wrong.stdout) == (1, b"")
    assert b"it has no message Nil" in wrong.stderr


def test_a_compiled_schema_reads_the_message_that_a_header_names_and_writes(kcli: Shell, tmp_path: Path) -> None:
    name = kcli.topic(1)
    (tmp_path / "m.proto").write_text(PROTO)
    image = f"file:{tmp_path}/m.binpb"
    assert protoc.main(["protoc", f"-I{tmp_path}", f"-o{tmp_path}/m.binpb", "m.proto"]) == 0
    kcli.ok("produce", name, "--value-schema", f"{image}#N", stdin=b'{"m":{"text":"hi"}}\n')
    kcli.ok("produce", name, "-H", "buf.registry.value.schema.message=N", "--whole", stdin=b"\x0a\4\x12\2ho")
    assert (
        kcli.ok("consume", name, "-e", "--value-schema", f"{image}#N") == b'{"m":{"text":"hi"}}\n{"m":{"text":"ho"}}\n'
    )
    assert kcli.ok("tail", name, "-e", "-q", "-n", "1", "--value-schema", image) == b'{"m":{"text":"ho"}}\n'
    (tmp_path / "m.binpb").write_bytes(b"syntax")
    wrong = kcli("consume", name, "-e", "--value-schema", image)
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert b"m.binpb: the Protobuf schema is not used: not a descriptor set" in wrong.stderr


def test_formats_without_a_schema_are_shown_and_filtered_as_json(kcli: Shell) -> None:
    name = kcli.topic(1)
    for number in (7, -1):
        kcli.ok("produce", name, "-k", "k", "--whole", stdin=number.to_bytes(8, "big", signed=True))
    kcli.ok("produce", name, "-k", "k", "--whole", stdin=b"other")
    done = kcli("consume", name, "-e", "--value-format", "int64")
    assert (done.returncode, done.stdout) == (0, b"7\n-1\nother\n")
    assert b"1 value could not be decoded and is shown as stored: 1 \xc3\x97 it has 5 bytes; int64 has 8" in done.stderr
    where = ["--value-format", "int64", "--where", "value > 0"]
    assert kcli.ok("consume", name, "-e", "-q", "-c", "1", *where) == b"7\n"
    assert kcli.ok("tail", name, "-e", "-q", "--value-format", "int64", "-f", "%s;") == b"7;-1;other;"
    assert kcli.ok("count", name, "-q", *where) == b"1\n"
    kcli.ok("produce", name, "--whole", stdin=b"\x08\7\x12\2hi")
    raw = kcli.ok("tail", name, "-e", "-q", "-n", "1", "--value-format", "protobuf-raw")
    assert raw == b'{"1":7,"2":"hi"}\n'


def test_keys_of_a_format(kcli: Shell) -> None:
    name = kcli.topic(1)
    envelope = {"key": {"base64": "AAAABw=="}, "value": "v"}
    kcli.ok("produce", name, "--input", "json", stdin=json.dumps(envelope).encode())
    assert kcli.ok("consume", name, "-e", "--key-format", "int32", "-f", "%k %s") == b"7 v"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("consume T -e --value-format int8 --value-schema file:x.avsc", b"be combined"),
        ("consume T -e --value-format int8 --time-field ts --start -1h", b"--time-field works with values in json"),
        ("copy T U --value-format mm2 --where value==1", b"--value-format mm2 works only in consume, tail and count"),
    ],
)
def test_formats_that_do_not_go_together(kcli: Shell, tmp_path: Path, line: str, says: bytes) -> None:
    (tmp_path / "x.avsc").write_text('"int"')
    words = line.replace("T", kcli.topic(1), 1).replace("file:x", f"file:{tmp_path}/x").split()
    done = kcli(*words)
    assert done.returncode == 2
    assert says in done.stderr


def test_a_copy_filters_by_a_format_and_keeps_the_bytes(kcli: Shell) -> None:
    source, target = kcli.topic(1), kcli.topic(1)
    for number in (5, 9):
        kcli.ok("produce", source, "--whole", stdin=number.to_bytes(4, "big"))
    kcli.ok("copy", source, target, "--value-format", "int32", "--where", "value > 5")
    assert kcli.ok("consume", target, "-e") == (9).to_bytes(4, "big") + b"\n"


UNDECODABLE = {
    "an id that the registry does not have": lambda n: b"\0\0\0\0\5what is this",
    "a schema that does not read it": lambda n: b"\0\0\0\0\7\x0e\4h",
    "ids by chance": lambda n: bytes((0, 1, 32 + n // 2500, 32 + n // 50 % 50, 32 + n % 50)) + b"this",
    "GUIDs by chance": lambda n: b"\1%016d" % n + b"what is this",
    "keys as values": lambda n: b"\0\0\0\0\0\1" + bytes((32 + n // 100, 32 + n % 100)),
}


@pytest.mark.parametrize("form", UNDECODABLE)
def test_ten_thousand_that_cannot_be_decoded_cost_about_what_raw_ones_do(kcli: Shell, folder: str, form: str) -> None:
    name = kcli.topic(1)
    kcli.ok("produce", name, stdin=b"\n".join(map(UNDECODABLE[form], range(10_000))))
    lines = [["consume", name, "-e", "-q", "-K", " "], ["consume", name, "-e", "-K", " ", "--schema-registry", folder]]
    costs, shown = [], []
    for line in lines:
        times = []
        for _ in range(3):
            begun = time.thread_time()  # the sandbox has a thread of its own
            done = kcli(*line)
            times.append(time.thread_time() - begun)
        costs.append(min(times))
        shown.append(done.stdout)
    assert shown[1] == shown[0]
    assert b"10,000 values could not be decoded and are shown as stored" in done.stderr
    each = 4e-6 if core.NAME == "compiled" else 3e-5  # in Python one try to decode costs 10 µs
    assert costs[1] - costs[0] < 10_000 * each, "seconds of CPU; a step for each name and row would be 2.5"


def test_fields_that_a_schema_does_not_have_are_counted_with_v(kcli: Shell, folder: str, tmp_path: Path) -> None:
    (tmp_path / "ids" / "9.proto").write_text('syntax = "proto3"; message P { int32 id = 1; P inner = 2; }')
    name = kcli.topic(1)
    for payload in (b"\0\x08\7\x1a\1x", b"\0\x12\2\x18\5\x20\1", b"\0\x08\7"):
        kcli.ok("produce", name, "--whole", stdin=b"\0\0\0\0\x09" + payload)
    three = b"3 fields of values are not in their schema and are not shown\n"
    by = ("--schema-registry", folder)
    for line in (("consume", name, "-e"), ("tail", name, "-e"), ("count", name, "--where", "value.id == 7")):
        done = kcli(*line, *by, "-v")
        assert (done.returncode, three in done.stderr) == (0, True), line
        assert b"not in their schema" not in kcli(*line, *by).stderr
    only = kcli("consume", name, "-e", *by, "-v", "-o", "0:1")
    assert b"1 field of a value is not in its schema and is not shown\n" in only.stderr
    bare = kcli("consume", name, "-e", "-v", "--value-schema", f"{folder}/ids/9.proto")
    assert three in bare.stderr, "the same where the user names the schema: what was only tried is not counted"


def test_S1_a_named_schema_is_the_readers_and_the_id_of_a_frame_the_writers(kcli: Shell, tmp_path: Path) -> None:
    fields = [{"name": name, "type": "int"} for name in ("paid", "refunded")]
    for place, order in (("1", fields), ("2", fields[::-1])):
        path = tmp_path / "subjects" / "orders-value" / f"{place}.avsc"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"type": "record", "name": "Order", "fields": order}))
    (tmp_path / "ids").mkdir()
    for version in ("1", "2"):
        (tmp_path / "ids" / f"{version}.avsc").write_text((path.parent / f"{version}.avsc").read_text())
    by = ["--schema-registry", f"file:{tmp_path}"]
    name = kcli.topic(1)
    kcli.ok("produce", name, *by, "--value-schema", "id:1", "--value", '{"paid": 100, "refunded": 0}')
    for spec in ("orders-value", "id:2", f"file:{path}"):
        named = [*by, "--value-schema", spec]
        assert kcli.ok("consume", name, "-e", *named) == b'{"paid":100,"refunded":0}\n'
        assert kcli.ok("tail", name, "-e", "-q", *named) == b'{"paid":100,"refunded":0}\n'
        assert kcli.ok("count", name, *named, "--where", "value.refunded > 0") == b"0\n"
        line = ["registry", "decode", "--input", "hex", *named]
        assert kcli.ok(*line, stdin=b"0000000001c80100") == b'{"paid":100,"refunded":0}\n'


def test_a_registry_that_refuses_the_credentials_is_exit_5(
    kcli: Shell, topic: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Registry, "status", 401)
    done = kcli("consume", topic, "-e", "--schema-registry", url, "--no-schema-cache")
    assert (done.returncode, done.stdout) == (5, b"".join(value + b"\n" for value in VALUES))
    assert b"3 values could not be decoded" in done.stderr


def test_long_keys_that_begin_like_a_frame_are_named_once_with_their_format(kcli: Shell, folder: str) -> None:
    name = kcli.topic(1)
    keys = [b"\0\0\1\x8b\xcf%03d" % number for number in range(150)]
    kcli.ok("produce", name, "-K", " ", stdin=b"".join(key + b" x\n" for key in keys))
    done = kcli("consume", name, "-e", "-K", " ", "--schema-registry", folder)
    assert (done.returncode, done.stdout) == (0, b"".join(key + b" x\n" for key in keys))
    assert b"100 keys could not be decoded" in done.stderr
    said = f"keys of {name}[0] are shown as stored after offset 99: fewer than half of the first 100 that start like a "
    assert said.encode() in done.stderr
    assert done.stderr.count(b"--key-format int64 shows them\n") == 1
    shown = kcli.ok("consume", name, "-e", "-K", " ", "--key-format", "int64", "--schema-registry", folder)
    assert shown.split(b" ")[0] == str(int.from_bytes(keys[0], "big")).encode()
