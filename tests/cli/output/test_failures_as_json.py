"""Where JSON is wanted a failure is JSON too, on stdout as with every other command; the sentence is on stderr."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Shell

NOBODY = ("-b", "127.0.0.1:1", "-X", "default.api.timeout.ms=300", "-X", "socket.connection.setup.timeout.ms=200")


@pytest.mark.parametrize(
    ("words", "schema"),
    [
        (("count", "nope"), "kcli.count/1"),
        (("copy", "nope", "{topic}"), "kcli.copy/1"),
        (("copy", "{topic}", "nope"), "kcli.copy/1"),
        (("copy", "nope", "{topic}", "--dry-run"), "kcli.copy.plan/1"),
        (("redrive", "nope"), "kcli.redrive/1"),
    ],
)
def test_a_command_that_prints_a_document_prints_one_on_failure(
    kcli: Shell, words: tuple[str, ...], schema: str
) -> None:
    topic = kcli.topic()
    ran = kcli(*(word.replace("{topic}", topic) for word in words), "-J")
    document = json.loads(ran.stdout)
    assert (ran.returncode, document["schema"], document["ok"]) == (1, schema, False)
    assert "this topic does not exist" in document["errors"][0]["message"]
    assert ran.stderr.decode() == f"kcli: {document['errors'][0]['message']}\n"


@pytest.mark.parametrize(
    "command", [("consume", "-e"), ("tail", "--no-follow"), ("consume", "--share-group", "g", "-e")]
)
def test_a_command_that_prints_lines_ends_them_with_one_that_says_why(kcli: Shell, command: tuple[str, ...]) -> None:
    ran = kcli(command[0], "nope", *command[1:], "-J")
    (line,) = map(json.loads, ran.stdout.splitlines())
    assert (ran.returncode, list(line), line["error"]["error"]) == (1, ["error"], "KcliError")
    assert "nope: this topic does not exist" in line["error"]["message"]
    again = kcli("produce", kcli.topic(), "--input", "json", stdin=ran.stdout)
    assert again.returncode == 1
    assert b"input line 1: the command that wrote it failed: nope: this topic does not exist" in again.stderr


@pytest.mark.parametrize("words", [("count", "t", "--format", "ndjson"), ("consume", "t", "-e", "-J")])
def test_no_connection_is_exit_code_5_and_json(kcli: Shell, words: tuple[str, ...]) -> None:
    ran = kcli(*words, *NOBODY)
    assert ran.returncode == 5
    assert json.loads(ran.stdout)["error"]["error"] == "ConnectError"


@pytest.mark.parametrize("words", [("count", "nope"), ("consume", "nope", "-e"), ("copy", "nope", "there", "--create")])
def test_without_json_stdout_is_empty(kcli: Shell, words: tuple[str, ...]) -> None:
    ran = kcli(*words)
    assert (ran.returncode, ran.stdout) == (1, b"")


def test_a_wrong_line_is_a_sentence_only(kcli: Shell) -> None:
    ran = kcli("count", kcli.topic(), "-p", "7", "-J")
    assert (ran.returncode, ran.stdout) == (2, b"")
