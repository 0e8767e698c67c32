"""kcat's own options print the same bytes here: both read one topic with headers, nulls, binary and timestamps."""

from __future__ import annotations

import json
import shlex
import subprocess

import pytest

from tests.cli.conftest import Shell

pytestmark = pytest.mark.needs("kcat")

RECORDS = [
    {
        "key": "k1",
        "value": "v1",
        "headers": [["a", "1"], ["b", None], ["c", ""], ["a", "2"]],
        "timestamp": 1700000000123,
    },
    {"key": None, "value": None, "timestamp": 1700000001000},
    {"key": "", "value": "", "timestamp": 1700000002000},
    {"key": {"base64": "/w=="}, "value": {"base64": "/wEC"}, "headers": [["x", {"base64": "/w=="}]], "timestamp": 0},
    {"key": "é", "value": "tab\tnew\nline", "timestamp": 1700000004000},
]
LINES = [
    "",
    "-K:",
    r"-K '\t' -D '||'",
    "-D ';'",
    "-c 2",
    "-o -2",
    "-o 3",
    "-o 99",
    "-o end",
    "-o beginning",
    "-p 0",
    "-o s@1700000000000",
    "-o s@1700000001000 -o e@1700000004000",
    "-o e@1700000000124",
    "-f %s",
    r"-f '%S|%s|\n'",
    "-f %R%s",
    r"-f '%k %K %s %S\n'",
    r"-f '%T\n'",
    r"-f '%h\n'",
    r"-f '%t[%p]@%o: %k=%s (%S) %h %T %%\n'",
    r"-f '\x41\x4\t%s\r\n'",
    r"-f '\q\e%s\n'",
]
"""What kcat cannot print at all (`\\0`), and where we tell null from empty on purpose (-Z), are not among these."""


@pytest.fixture(scope="module")
def topic(bootstrap: str) -> str:
    kcli = Shell(bootstrap)
    name = kcli.topic()
    kcli.ok("produce", name, "--input", "json", stdin=b"".join(json.dumps(row).encode() + b"\n" for row in RECORDS))
    return name


@pytest.mark.process
@pytest.mark.parametrize("line", LINES)
def test_the_same_options_print_the_same_bytes(kcli: Shell, topic: str, line: str) -> None:
    words = shlex.split(line)
    theirs = subprocess.run(
        ["kcat", "-b", kcli.bootstrap, "-C", "-t", topic, "-e", "-q", *words], capture_output=True, timeout=30
    )
    assert theirs.returncode == 0
    assert kcli.ok("consume", topic, "-e", "-q", *words) == theirs.stdout


@pytest.mark.parametrize("template", ["100%", r"%z\n", "plain"])
def test_templates_that_are_mistakes_are_refused(kcli: Shell, topic: str, template: str) -> None:
    done = kcli("consume", topic, "-e", "-f", template)
    assert (done.returncode, done.stdout) == (2, b"")


def test_Z_prints_null_for_nulls_only(kcli: Shell, topic: str) -> None:
    """kcat -Z prints NULL for empty ones too; null and empty differ, and here that is seen."""
    assert kcli.ok("consume", topic, "-e", "-Z", "-c", "3") == b"v1\nNULL\n\n"


@pytest.mark.process
def test_kcats_own_json_is_read_back(kcli: Shell, topic: str) -> None:
    theirs = subprocess.run(
        ["kcat", "-b", kcli.bootstrap, "-C", "-t", topic, "-e", "-q", "-J", "-c", "3"], capture_output=True, timeout=30
    )
    again = kcli.topic()
    kcli.ok("produce", again, "--input", "kcat", stdin=theirs.stdout)
    ours = [json.loads(line) for line in kcli.ok("consume", again, "-e", "--envelope").splitlines()]
    for got, sent in zip(ours, RECORDS, strict=False):
        assert (got["key"], got["value"], got["timestamp"]) == (sent["key"], sent["value"], sent["timestamp"])
        assert got["headers"] == sent.get("headers", [])
