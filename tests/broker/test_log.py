"""What kcli logs: under names of the standard `logging`, only where the program imported that, and never unasked."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kcli
from kcli.sandbox.thread import SandboxThread
from kcli.text.log import Log

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/library/logging.md").read_text()


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [f"{row.levelname} {row.name}: {row.getMessage()}" for row in caplog.records if row.name.startswith("kcli")]


def matches(caplog: pytest.LogCaptureFixture, *patterns: str) -> None:
    """Each pattern describes a line, whole."""
    seen = lines(caplog)
    missing = [pattern for pattern in patterns if not any(re.fullmatch(pattern, line) for line in seen)]
    assert not missing, (missing, seen)


def test_without_logging_nothing_is_imported_and_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log("test.absent")
    monkeypatch.delitem(sys.modules, "logging")
    log.warning("%s", "never seen")
    assert "logging" not in sys.modules
    monkeypatch.undo()
    log.debug("%s", "nobody listens")
    assert log._logger is logging.getLogger("kcli.test.absent")


def test_a_line_names_its_caller_and_values_are_put_in_only_for_those_who_listen(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Value:
        def __str__(self) -> str:
            raise AssertionError("nobody listens")

    log = Log("test.levels")
    with caplog.at_level(logging.WARNING, "kcli.test.levels"):
        log.debug("%s", Value())
        log.info("%s", Value())
        log.warning("three %s", 3)
    (row,) = caplog.records
    assert (row.levelno, row.name, row.getMessage()) == (logging.WARNING, "kcli.test.levels", "three 3")
    assert row.pathname == __file__


def test_a_handler_that_keeps_lines_keeps_no_error_alive(caplog: pytest.LogCaptureFixture) -> None:
    log = Log("test.errors")
    with caplog.at_level(logging.WARNING, "kcli.test.errors"):
        log.warning("%s: %s", "broker 1", kcli.ConnectError("refused"))
    (row,) = caplog.records
    assert row.getMessage() == "broker 1: refused"
    assert not any(isinstance(value, BaseException) for value in row.args or ())


@pytest.mark.process
def test_nothing_is_printed_unless_the_program_configures_it() -> None:
    """A library's warnings must not reach stderr through the handler of last resort."""
    program = (
        "import asyncio, logging, kcli\n"
        "async def main():\n"
        "    nowhere = kcli.ClientSettings(bootstrap=kcli.parse_bootstrap('127.0.0.1:1'), wait_for_cluster=False)\n"
        "    async with kcli.Client(nowhere) as client:\n"
        "        try: await client.admin.describe_cluster()\n"
        "        except kcli.ConnectError: print('refused')\n"
        "asyncio.run(main())\n"
        "print(logging.getLogger('kcli').handlers)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.stderr == ""
    assert done.stdout == "refused\n[<NullHandler (NOTSET)>]\n"


async def test_producing_and_a_group_are_told_by_level(caplog: pytest.LogCaptureFixture) -> None:
    with SandboxThread() as sandbox, caplog.at_level(logging.DEBUG, "kcli"):
        async with kcli.Client(sandbox.bootstrap) as client:
            await client.admin.create_topics([kcli.NewTopic(topic="t", partitions=2)])
            async with client.producer() as producer:
                await producer.send_and_wait("t", b"v")
            async with client.consumer(group=kcli.GroupSettings(group="g")) as consumer:
                await consumer.subscribe(["t"])
                while not any(fetched.batches for fetched in await consumer.poll(5.0)):
                    pass
        matches(
            caplog,
            r"DEBUG kcli.broker: .*: connected in \d+\.\d ms",
            r"DEBUG kcli.cluster: metadata from .*: 1 brokers, \d topics",
            r"INFO kcli.cluster: metadata: leaders are new or changed: t",
            r"INFO kcli.cluster: g: broker \d+ at .* coordinates",
            r"INFO kcli.producer: producer id \d+, epoch 0",
            r"INFO kcli.consumer.group: g: joins: joining",
            r"INFO kcli.consumer.group: g: member .* in generation 1",
            r"INFO kcli.consumer.group: g: assigned t\[0\], t\[1\]",
            r"INFO kcli.consumer.group: g: revoked t\[0\], t\[1\]",
            r"DEBUG kcli.broker: the connections? to .* (was|were) closed",
        )
        assert not [line for line in lines(caplog) if line.startswith("WARNING")], "all went well"


async def test_a_connection_that_does_not_come_about_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "kcli"):
        own = kcli.ClientSettings(bootstrap=kcli.parse_bootstrap("127.0.0.1:1"), wait_for_cluster=False)
        async with kcli.Client(own) as client:
            with pytest.raises(kcli.ConnectError):
                await client.admin.describe_cluster()
    matches(caplog, r"WARNING kcli.broker: 127.0.0.1:1: no connection: .*", r"WARNING kcli.cluster: metadata: .*")


async def test_a_lost_connection_and_a_batch_sent_again_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with SandboxThread() as sandbox, caplog.at_level(logging.INFO, "kcli"):
        async with kcli.Client(sandbox.bootstrap) as client:
            await client.admin.create_topics([kcli.NewTopic(topic="t")])
            async with client.producer() as producer:
                await producer.send_and_wait("t", b"v")
                sandbox.faults.wire.lose_answer("Produce")
                await producer.send_and_wait("t", b"w")
        matches(
            caplog,
            r"INFO kcli.broker: broker \d+ at .* closed the connection.*",
            r"WARNING kcli.producer: t\[0\]: 1 records are sent again \(retry 1\): .*",
        )


def test_the_page_names_each_logger_and_no_other() -> None:
    named = set(re.findall(r"^\| `kcli\.([\w.]+)` \|", PAGE, re.MULTILINE))
    used = {
        name
        for path in (ROOT / "kcli").rglob("*.py")
        for name in re.findall(r"^LOG = Log\(\"([\w.]+)\"\)", path.read_text(), re.MULTILINE)
    }
    assert named == used
