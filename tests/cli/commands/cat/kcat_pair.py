"""kcat and kcli's kcat side by side: one table of command lines, one broker, two programs.

A row is (kind, words, stdin, note). Words may hold names in braces: topics and files that `Scene` made, {new} and
{group} for a topic and a group of each program's own. What a kind compares is said in test_cat_table.py.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from struct import pack
from typing import NamedTuple

import pytest

from kcli.cli.main import main
from tests.cli.conftest import Shell, redirected

SHOW = r"%p|%k|%K|%s|%S|%h\n"
MIXED = [
    {"key": "k1", "value": "v1", "headers": [["a", "1"], ["b", None], ["c", ""], ["a", "2"]], "at": 1700000000123},
    {"key": None, "value": None, "at": 1700000001000},
    {"key": "", "value": "", "at": 1700000002000},
    {"key": {"base64": "/w=="}, "value": {"base64": "/wEC"}, "headers": [["x", {"base64": "/w=="}]], "at": 0},
    {"key": "é", "value": "tab\tnew\nline", "at": 1700000004000},
]
ESCAPES = [{"key": '"q\\/', "value": "".join(map(chr, range(1, 128))), "headers": [['n"\n', "\x1f"]], "at": 5}]
THREE = [{"key": f"k{n}", "value": f"v{n}", "partition": n % 3, "at": 1700000000000 + n * 1000} for n in range(6)]
HEADERS = [{"key": None, "value": "v", "headers": [["h", "be\0fore"]], "at": 5}]
CODECS = ("gzip", "snappy", "lz4", "zstd")


class Row(NamedTuple):
    kind: str
    words: str
    stdin: str
    note: str

    @property
    def given(self) -> bytes:
        return self.stdin.encode().decode("unicode_escape").encode("latin-1")


class Result(NamedTuple):
    code: int
    out: bytes
    err: bytes
    stored: bytes  # what stands in {new} afterwards


def table() -> list[Row]:
    """All rows of kcat_table.tsv."""
    with open(Path(__file__).with_name("kcat_table.tsv"), encoding="utf-8", newline="") as file:
        return [Row(*row) for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]


class Scene:
    """What both programs read, and how each is run."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        self.bootstrap = bootstrap
        self.kcli = Shell(bootstrap)
        self.folder = folder
        self.prefix = f"kc{os.getpid()}-"
        self._numbers = itertools.count(1)
        self.names: dict[str, str] = {}
        self.environment = {**os.environ, "HOME": str(folder)}
        for name in ("KCAT_CONFIG", "KAFKACAT_CONFIG", "KCLI_BOOTSTRAP"):
            self.environment.pop(name, None)
        self._files()
        self._topics()

    def _files(self) -> None:
        contents = {"lines": b"k1:one\nk2:two\n\nthree", "binary": b"\0\xff\n\r\n", "nothing": b""}
        contents |= {"file": b"# comment\n\n  client.id = me\nfetch.wait.max.ms=20\n", "badfile": b"nonsense\n"}
        for name, content in contents.items():
            (self.folder / name).write_bytes(content)
            self.names[name] = str(self.folder / name)

    def _topics(self) -> None:
        single = ["mixed", "empty", "trimmed", "committed", "escapes", "ints", "headers", *CODECS]
        self.names |= {name: self.prefix + name for name in [*single, "three"]}
        kcli, names = self.kcli, self.names
        keep = ("--config", "retention.ms=-1")  # records of long ago, which Kafka's first check would delete
        kcli("topics", "create", *(names[name] for name in single), "-p", "1", *keep)
        kcli("topics", "create", names["three"], "-p", "3", *keep)
        for name, rows in (("mixed", MIXED), ("escapes", ESCAPES), ("three", THREE), ("headers", HEADERS)):
            self._fill(name, rows)
        numbers = [pack(">q", n * -(2**40) - n) for n in range(4)]
        import base64

        ints = [{"key": "ab", "value": {"base64": base64.b64encode(n).decode()}, "at": 5} for n in numbers]
        self._fill("ints", [*ints, {"key": None, "value": None, "at": 5}, {"key": "abcdefgh", "value": "x", "at": 5}])
        for codec in CODECS:
            kcli("produce", names[codec], "-K", ":", "-z", codec, stdin=b"a:1\nb:2\n" * 50)
        kcli("produce", names["trimmed"], stdin=b"a\nb\nc\nd\n")
        kcli("topics", "trim", names["trimmed"], "--before", "2", "--execute")
        kcli("produce", names["committed"], "--transactional-id", self.prefix, stdin=b"x\ny\n")

    def _fill(self, name: str, rows: list[dict[str, object]]) -> None:
        lines = [json.dumps({"timestamp" if key == "at" else key: one for key, one in row.items()}) for row in rows]
        self.kcli("produce", self.names[name], "--input", "json", stdin="\n".join(lines).encode() + b"\n")

    def create(self, rows: list[Row]) -> list[dict[str, str]]:
        """Names of its own for each row, the topics created."""
        made = [
            {"new": f"{self.prefix}n{n}", "group": f"{self.prefix}g{n}"}
            for n in itertools.islice(self._numbers, len(rows))
        ]
        for kind, partitions in (("write", "1"), ("write3", "3")):
            names = [own["new"] for own, row in zip(made, rows) if row.kind == kind]
            if names:
                self.kcli("topics", "create", *names, "-p", partitions)
        return made

    def words(self, row: Row, own: dict[str, str]) -> list[str]:
        """The command line, with -b where the row is not about its absence."""
        text = row.words
        for name, value in {**self.names, **own}.items():
            text = text.replace("{" + name + "}", value)
        where = [] if row.kind in ("nobroker", "ok") else ["-b", self.bootstrap]
        words = shlex.split(text)
        return words[:1] + where + words[1:] if words[:1] == ["kcat"] else where + words

    # -- the two programs --------------------------------------------------------------------------------------------

    def theirs(self, row: Row, own: dict[str, str]) -> Result:
        out, err, code = b"", b"", 0
        for words in self._runs(row, own):
            done = subprocess.run(
                ["kcat", *words], input=row.given, capture_output=True, env=self.environment, timeout=40
            )
            out, err, code = out + done.stdout, err + done.stderr, done.returncode
        return Result(code, out, err, self._stored(row, own))

    def ours(self, row: Row, own: dict[str, str]) -> Result:
        out, err, code = b"", b"", 0
        for words in self._runs(row, own):
            with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as to, tempfile.TemporaryFile() as say:
                given.write(row.given)
                given.seek(0)
                with redirected(given.fileno(), to.fileno(), say.fileno()), pytest.MonkeyPatch.context() as patch:
                    for name in ("KCAT_CONFIG", "KAFKACAT_CONFIG", "KCLI_BOOTSTRAP"):
                        patch.delenv(name, raising=False)
                    patch.setenv("HOME", str(self.folder))
                    code = main(["cat", *words])
                to.seek(0)
                say.seek(0)
                out, err = out + to.read(), err + say.read()
        return Result(code, out, err, self._stored(row, own))

    def _runs(self, row: Row, own: dict[str, str]) -> Iterator[list[str]]:
        words = self.words(row, own)
        yield words
        if row.kind == "resume":
            yield words[:-2]  # without -c 2

    def _stored(self, row: Row, own: dict[str, str]) -> bytes:
        if row.kind not in ("write", "write3"):
            return b""
        words = ["kcat", "-b", self.bootstrap, "-C", "-e", "-q", "-t", own["new"], "-f", SHOW]
        words += ["-X", "fetch.wait.max.ms=10"]
        until = time.monotonic() + 20  # with acks=0 a program ends before its record is stored
        while True:
            done = subprocess.run(words, capture_output=True, env=self.environment, timeout=40, check=True)
            if done.stdout or "acks=0" not in row.words or time.monotonic() > until:
                return b"\n".join(sorted(done.stdout.split(b"\n")))


def comparable(row: Row, result: Result) -> tuple[int, bytes, bytes]:
    """What must be equal. Order over partitions and the broker that answered -L cannot be."""
    out = result.out
    if row.kind in ("sorted", "group"):
        out = b"\n".join(sorted(out.split(b"\n")))
    out = re.sub(rb"\(from broker [^)]*\)", b"(from broker)", out)
    out = re.sub(rb'"originating_broker":\{[^}]*\}', b'"originating_broker":{}', out)
    return result.code, out, result.stored
