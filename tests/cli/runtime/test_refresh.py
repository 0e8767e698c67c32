"""--watch of lists: refreshes one after another in a pipe, in place on a terminal, until Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest

from kcli.cli.output.tables.document import Document
from kcli.cli.parsing.groups import ReadOptions, RefreshOptions
from kcli.cli.parsing.registry import every
from kcli.cli.runtime.refresh import refreshes, watch
from kcli.cli.runtime.signals import Stop
from kcli.errors import ConnectError, KcliError
from tests.cli.conftest import KCLI, Shell
from tests.cli.poison import on_a_terminal
from tests.cli.shapes import shape
from tests.programs import Background

ONCE_A_WHILE = ("--watch", "--interval", "10ms", "--refreshes", "3")


def test_a_pipe_gets_one_refresh_after_another(kcli: Shell) -> None:
    topic = kcli.topic(2)
    watched = ("topics", "list", topic, *ONCE_A_WHILE)
    documents = [json.loads(text) for text in kcli.ok(*watched, "-J").splitlines()]
    assert [document["schema"] for document in documents] == ["kcli.topics.list/1"] * 3
    assert [document["topics"][0]["partitions"] for document in documents] == [2] * 3
    assert kcli.ok(*watched, "--format", "csv", "--columns", "topic").decode().splitlines() == ["topic", *[topic] * 3]
    rows = kcli.ok(*watched, "--format", "csv", "--columns", "topic", "--no-headers").decode().splitlines()
    assert rows == [topic] * 3
    assert kcli.ok(*watched, "--columns", "topic").decode() == f"TOPIC\n{topic}\n\nTOPIC\n{topic}\n\nTOPIC\n{topic}\n"
    assert len(kcli.ok(*watched, "--format", "ndjson").splitlines()) == 3


def test_a_terminal_is_drawn_in_place(kcli: Shell) -> None:
    topic = kcli.topic()
    code, text = on_a_terminal("topics", "list", topic, *ONCE_A_WHILE, bootstrap=kcli.bootstrap)
    assert code == 0
    assert text.count(topic) == 3
    assert text.count("\x1b[4F\x1b[J") == 2
    assert text.count("refreshed in") == 3


def test_a_remark_is_made_once_and_a_failed_row_is_the_exit_code(kcli: Shell) -> None:
    done = kcli("topics", "list", "no-such-topic", *ONCE_A_WHILE, "-J")
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 3
    assert done.stderr.count(b"no-such-topic") == 1


@pytest.mark.parametrize("words", [("--interval", "1s"), ("--refreshes", "2")])
def test_refreshes_are_of_a_watch(kcli: Shell, words: tuple[str, ...]) -> None:
    done = kcli("topics", "list", *words)
    assert (done.returncode, done.stderr) == (2, b"kcli: --interval and --refreshes require --watch\n")


def test_who_cannot_connect_ends_with_5_and_a_document() -> None:
    done = Shell("127.0.0.1:1")("brokers", "--watch", "-J", "-X", "socket.connection.setup.timeout.ms=100")
    assert done.returncode == 5
    assert json.loads(done.stdout)["ok"] is False


@pytest.mark.process
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_ctrl_c_ends_it_with_success(kcli: Shell, tmp_path: Path, number: int, code: int) -> None:
    words = ["brokers", "--watch", "--interval", "100ms", "--format", "json", "-b", kcli.bootstrap]
    with Background([*KCLI, *words], stdout=tmp_path / "out") as watching:
        watching.wait_for(1)
        watching.process.send_signal(number)
        assert watching.process.wait(10) == code


async def test_a_refresh_that_fails_is_reported_once_and_tried_again(capsys: pytest.CaptureFixture[str]) -> None:
    turns = 0

    async def once() -> int:
        nonlocal turns
        turns += 1
        if 1 < turns < 4:
            raise ConnectError("nobody there")
        return turns

    assert [turn async for turn in refreshes(once, Stop(), interval=0.001, times=2)] == [1, 4]
    assert capsys.readouterr().err == "kcli: nobody there\n"


async def test_the_first_refresh_raises() -> None:
    async def once() -> int:
        raise ConnectError("nobody there")

    with pytest.raises(ConnectError):
        await anext(refreshes(once, Stop(), interval=0.001))


async def test_remarks_come_again_when_they_were_gone_for_a_refresh(capsys: pytest.CaptureFixture[str]) -> None:
    turns = 0

    async def once() -> tuple[Document, int]:
        nonlocal turns
        turns += 1
        document = Document(shape=shape("topics.list"))
        if turns != 3:
            document.fail(KcliError("one topic is gone"))
        return document, document.exit_code

    options = ReadOptions(watch=True, interval="1ms", refreshes=4)
    async with asyncio.timeout(10):
        assert await watch(once, Stop(), options, "json") == 1
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 4
    assert err == "kcli: one topic is gone\n" * 2


def test_no_change_is_watched() -> None:
    """Every list is: tests/cli/output/test_view.py."""
    for path, command in every():
        if "--execute" in command.by_flag:
            assert "--watch" not in command.by_flag, path
    assert issubclass(ReadOptions, RefreshOptions)
