"""`kcli cat -s avro -r URL` prints what a kcat with Avro printed (kcat_avro.json)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell
from tests.registry.kcat_avro import PLAIN, RECORDED, ROWS, Row, Scene

THEIRS: list[dict[str, Any]] = json.loads(RECORDED.read_text())


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with SandboxThread(topics={}, registry=True) as sandbox:
        yield Scene(Shell(sandbox.bootstrap), sandbox.registry_url)


def comparable(text: str) -> str:
    """Without the words for what is wrong within a payload: they are those of two libraries."""
    return re.sub(r'(Failed to read avro value)[^"\n]*?(: terminating)?(?=["\n])', r"\1\2", text)


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.topic} {row.words}" for row in ROWS])
def test_it_prints_what_kcat_prints(scene: Scene, row: Row) -> None:
    theirs = next(one for one in THEIRS if (one["topic"], one["words"]) == row)
    done = scene.shell("cat", *scene.words(row))
    ours = {"code": done.returncode, "out": scene.named(done.stdout.decode("latin-1")), "err": done.stderr.decode()}
    assert {name: comparable(str(value)) for name, value in ours.items()} == {
        name: comparable(str(theirs[name])) for name in ours
    }


def test_every_recorded_line_is_run() -> None:
    assert [(one["topic"], one["words"]) for one in THEIRS] == list(ROWS)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("-s", "avro"), b"-s avro requires -r URL"),
        (("-s", "avro", "-r", ""), b"-r url must not be empty"),
        (("-s", "avro", "-r", "nowhere"), b"schema.registry.url is http://HOST:PORT"),
        (("-s", "value=avr"), b"Invalid token 'a' in value pack-format"),
        (("-P", "-s", "avro", "-r", "http://127.0.0.1:1"), b"-s serdes only available in the consumer"),
    ],
)
def test_lines_that_make_no_sense(scene: Scene, words: tuple[str, ...], reason: bytes) -> None:
    done = scene.shell("cat", "-C", "-t", "all", *words, "-b", scene.shell.bootstrap)
    assert (done.returncode, done.stdout) == (1, b"")
    assert reason in done.stderr


def test_the_registry_may_be_a_property(scene: Scene) -> None:
    where = ["-X", f"schema.registry.url={scene.registry}/"]
    done = scene.shell("cat", "-b", scene.shell.bootstrap, "-Ceqt", "node", "-s", "value=avro", *where)
    assert (done.returncode, done.stdout) == (0, b'{"v": 1, "next": {"Node": {"v": 2, "next": null}}}\n')


def test_a_member_of_a_group_reads_avro(scene: Scene) -> None:
    words = ["-b", scene.shell.bootstrap, "-G", "avro-readers", "-eq", "-r", scene.registry, "-s", "avro"]
    done = scene.shell("cat", *words, "-X", "auto.offset.reset=earliest", "node")
    assert (done.returncode, done.stdout) == (0, b'{"v": 1, "next": {"Node": {"v": 2, "next": null}}}\n')


def test_where_it_differs_on_purpose(scene: Scene) -> None:
    """kcat cuts strings at a NUL and ends at a NaN."""
    topic = scene.shell.topic()
    for value in (PLAIN | {"s": "a\0b", "b": b"\0\1"}, PLAIN | {"d": float("nan")}):
        scene.shell.ok("produce", topic, "--whole", stdin=scene.frame("all", value))
    done = scene.shell("cat", "-b", scene.shell.bootstrap, "-Ceqt", topic, "-s", "value=avro", "-r", scene.registry)
    first, second = done.stdout.decode().splitlines()
    assert json.loads(first)["s"] == "a\0b"
    assert '"b": "\\u0000\\u0001"' in first
    assert '"d": "NaN"' in second


def test_a_registry_that_is_down_ends_the_run_at_once(scene: Scene) -> None:
    done = scene.shell(
        "cat", "-b", scene.shell.bootstrap, "-Ceqt", "node", "-s", "value=avro", "-r", "http://127.0.0.1:1"
    )
    assert (done.returncode, done.stdout) == (1, b"")
    said = b"offset 0: Avro/Schema-registry message deserialization: http://127.0.0.1:1 cannot be reached"
    assert said in done.stderr
