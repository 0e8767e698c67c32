"""What decides by decoded keys and values ends where the registry does not answer; nothing behind it counts as done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.cli.conftest import Shell

EVENT = {
    "type": "record",
    "name": "Event",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}
DOWN = "http://127.0.0.1:1"


class Registry:
    """Has a schema under the ids 7, 8 and 9, and answers with a status for those in `broken`."""

    def __init__(self) -> None:
        self.broken: dict[int, int] = {}
        self.url = ""

    def answer(self, path: str) -> tuple[int, object]:
        id = int(path.split("/ids/")[1].split("?")[0].split("/")[0]) if "/ids/" in path else 0
        if id in self.broken:
            return self.broken[id], {}
        if id in (7, 8, 9):
            return 200, {"schema": json.dumps("string" if id == 8 else EVENT)}
        return 404, {"error_code": 40403, "message": "no"}


@pytest.fixture
def registry() -> Iterator[Registry]:
    ours = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, document = ours.answer(self.path)
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        ours.url = f"http://127.0.0.1:{server.server_port}"
        yield ours
        server.shutdown()
        thread.join()


def stamp(minute: int) -> str:
    return f"2026-11-01T00:{minute:02}:00.000Z"


def write(kcli: Shell, registry: Registry, topic: str, numbers: range, id: int) -> None:
    rows = [json.dumps({"id": n, "at": stamp(n)}) for n in numbers]
    schemas = ("--schema-registry", registry.url, "--value-schema", f"id:{id}")
    kcli.ok("produce", topic, *schemas, stdin="\n".join(rows).encode())


@pytest.fixture
def source(kcli: Shell, registry: Registry) -> str:
    """A minute each; the schema of the first twenty has the id 9, that of the others the id 7."""
    name = kcli.topic(1)
    write(kcli, registry, name, range(20), 9)
    write(kcli, registry, name, range(20, 60), 7)
    return name


def ids(kcli: Shell, registry: Registry, topic: str) -> list[int]:
    lines = kcli.ok("consume", topic, "-e", "--schema-registry", registry.url).splitlines()
    return [json.loads(line)["id"] for line in lines]


COMMANDS = {
    "copy": ("copy", "{source}", "{target}"),
    "redrive": ("redrive", "{source}", "--to", "{target}", "--execute"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("status", [503, 401, 403])
def test_what_is_not_looked_up_is_left_for_the_next_run(
    kcli: Shell, registry: Registry, source: str, command: str, status: int
) -> None:
    target = kcli.topic(1)
    words = [word.format(source=source, target=target) for word in COMMANDS[command]]
    words += ["--schema-registry", registry.url, "--where", "value.id >= 0"]
    registry.broken = {7: status}
    done = kcli(*words)
    assert done.returncode == 5
    assert f"{source}[0]: a value's schema cannot be looked up: ".encode() in done.stderr
    assert registry.url.encode() in done.stderr
    assert not set(ids(kcli, registry, target)) & set(range(20, 60))
    registry.broken = {}
    assert kcli(*words).returncode == 0
    assert ids(kcli, registry, target) == [*range(60)], "none is lost, and none is there twice"


def test_what_came_before_is_copied_and_stored(kcli: Shell, registry: Registry, source: str) -> None:
    target, later = kcli.topic(1), ("--schema-registry", registry.url, "--where", "value.id >= 0")
    kcli.ok("copy", source, target, *later, "-c", "30")
    registry.broken = {7: 503}
    assert kcli("copy", source, target, *later).returncode == 5
    registry.broken = {}
    done = kcli("copy", source, target, *later)
    assert b"resuming after 30 offsets" in done.stderr
    assert ids(kcli, registry, target) == [*range(60)]


def test_a_copy_that_follows_ends_with_the_registry(kcli: Shell, registry: Registry, source: str) -> None:
    registry.broken = {7: 503}
    words = ("--schema-registry", registry.url, "--where", "value.id >= 0", "--exactly-once", "--follow")
    assert kcli("copy", source, kcli.topic(1), *words).returncode == 5


def test_a_registry_that_is_not_needed_is_not_asked(kcli: Shell, registry: Registry, source: str) -> None:
    target = kcli.topic(1)
    kcli.ok("copy", source, target, "--schema-registry", DOWN, "--where", "offset < 3", "--header", "nix", "-q")
    kcli.ok("copy", source, target, "--schema-registry", DOWN, "--where", "offset < 3", "-q")
    assert ids(kcli, registry, target) == [0, 1, 2]


def test_ids_that_are_none_hide_no_others(kcli: Shell, registry: Registry) -> None:
    source, target = kcli.topic(1), kcli.topic(1)
    kcli.ok("produce", source, stdin=b"\n".join(b"\0\0\0\x55" + bytes([40 + n]) + b"x" for n in range(40)) + b"\n")
    write(kcli, registry, source, range(10), 7)
    words = ("--schema-registry", registry.url, "--where", "value.id >= 0")
    done = kcli("copy", source, target, *words)
    assert done.returncode == 0
    assert b"40 values could not be decoded and are filtered as stored" in done.stderr
    assert ids(kcli, registry, target) == [*range(10)]
    assert kcli.ok("count", source, "-q", *words) == b"10\n"


TIMES = {
    "reset": ("groups", "reset", "--create", "{group}", "-t", "{topic}", "--to", "@2026-11-01T00:10:00Z", "--execute"),
    "rollback": ("rollback", "{group}", "-t", "{topic}", "--start", "2026-11-01T00:10:00Z"),
    "offsets": ("offsets", "{topic}", "--at", "@2026-11-01T00:10:00Z"),
}


@pytest.mark.parametrize("command", TIMES)
def test_a_search_for_a_time_ends_with_the_registry_and_changes_nothing(
    kcli: Shell, registry: Registry, source: str, command: str
) -> None:
    assert kcli("consume", source, "-g", source, "-c", "40", "-q", "--raw-value").returncode == 0
    registry.broken = {9: 503}
    words = [word.format(group=source, topic=source) for word in TIMES[command]]
    done = kcli(*words, "--time-field", "at", "-X", f"schema.registry.url={registry.url}")
    assert (done.returncode, done.stdout) == (5, b"")
    assert f"{source}[0]: a value's schema cannot be looked up: {registry.url}: HTTP 503".encode() in done.stderr
    described = json.loads(kcli.ok("groups", "describe", source, "-J"))
    assert [row["committed"] for row in described["partitions"]] == [40]


@pytest.mark.parametrize("command", ["count", "consume"])
def test_a_range_of_times_ends_with_the_registry(kcli: Shell, registry: Registry, source: str, command: str) -> None:
    registry.broken = {9: 503}
    words = ("-e",) if command == "consume" else ()
    times = ("--time-field", "at", "--start", stamp(10), "--schema-registry", registry.url)
    done = kcli(command, source, *words, *times)
    assert (done.returncode, done.stdout) == (5, b"")


def test_what_is_not_decoded_is_counted_once_by_a_search(kcli: Shell, registry: Registry) -> None:
    topic = kcli.topic(1)
    write(kcli, registry, topic, range(20), 9)
    kcli.ok("produce", topic, stdin=b"\n".join([b"\0\0\0\0\x05x"] * 5) + b"\n")
    write(kcli, registry, topic, range(20, 60), 7)
    words: tuple[str, ...] = ("offsets", topic, "--at", "@2026-11-01T00:20:00Z", "--time-field", "at", "-J")
    words += ("-X", f"schema.registry.url={registry.url}")
    done = kcli(*words)
    assert done.returncode == 0
    assert json.loads(done.stdout)["partitions"][0]["at_offset"] == 25
    assert done.stderr.startswith(b"kcli: 5 values could not be decoded and are searched as stored: 5 \xc3\x97 ")
    assert f"(the first: {topic}[0] offset 20)".encode() in done.stderr
    assert kcli.ok(*words, "-q") == done.stdout
