"""Commands that look at everything ask brokers, never things: ten times the topics and groups, not one request more."""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.scale import BROKERS, COMMANDS, asked, fill
from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread


class Out(io.TextIOWrapper):
    """stdout in memory, with the buffer beneath that commands write to."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")

    @property
    def text(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


def run(*words: str) -> str:
    with contextlib.redirect_stdout(Out()) as out:
        assert main(list(words)) == 0
        assert isinstance(out, Out)
        return out.text


def requests_of_all(folder: Path, topics: int, groups: int) -> tuple[dict[str, Counter[str]], dict[str, int]]:
    """Requests and lines of each command against so many topics and groups."""
    found: dict[str, Counter[str]] = {}
    lines: dict[str, int] = {}
    with SandboxThread(brokers=BROKERS) as sandbox:
        asyncio.run(fill(sandbox.bootstrap, topics, groups))
        ends = ("-b", sandbox.bootstrap)
        file = folder / f"{topics}.yaml"
        file.write_text(run("export", *ends))
        for name, words in COMMANDS.items():
            trace = folder / f"trace {topics} {name}"
            line = [str(file) if word == "FILE" else word for word in words]
            lines[name] = run(*line, *ends, "--trace-file", str(trace)).count("\n")
            found[name] = asked(trace)
        assert not sandbox.violations
    return found, lines


@pytest.mark.slow
def test_no_command_asks_once_for_each_topic_or_group(tmp_path: Path) -> None:
    few, _ = requests_of_all(tmp_path, 40, 20)
    many, lines = requests_of_all(tmp_path, 400, 200)
    assert lines["topics list"] == 401
    assert lines["groups list"] == 201
    assert lines["lag"] == 201
    assert lines["diff FILE"] == 0
    for name, counts in many.items():
        del counts["Metadata"], few[name]["Metadata"]  # in pieces of a thousand topics
        assert counts == few[name], name
        assert sum(counts.values()) <= 8 * BROKERS, (name, counts)


@pytest.mark.parametrize("name", ["topics list", "groups list", "lag"])
def test_what_the_scale_is_measured_with_is_there(name: str) -> None:
    assert name in COMMANDS
