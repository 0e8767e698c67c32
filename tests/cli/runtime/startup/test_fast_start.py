"""The lean start: asyncio without what it does not use is still all of asyncio, and leaving quickly loses nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

LEAN = """
import sys
from kcli.cli.runtime.startup import Later, start_lean
start_lean()
import asyncio
assert not [name for name, module in list(sys.modules.items()) if isinstance(module, Later)]
"""


def python(code: str, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *words], input=stdin, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.process
@pytest.mark.parametrize("absent", ["logging", "inspect", "ssl", "subprocess", "typing", "re", "concurrent.futures"])
def test_a_lean_start_and_an_event_loop_import_none_of_it(absent: str) -> None:
    done = python(LEAN + f"asyncio.run(asyncio.sleep(0))\nprint({absent!r} in sys.modules)")
    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.mark.process
def test_each_public_name_of_asyncio_is_there_after_a_lean_start() -> None:
    words = python("import asyncio\nprint(*asyncio.__all__, *['graph'] * hasattr(asyncio, 'graph'))").stdout.split()
    assert len(words) > 80
    done = python(
        LEAN
        + """
for name in sys.argv[1:]:
    value = getattr(asyncio, name)
    assert type(value) is not Later, name
from asyncio import *
try:
    asyncio.Nonsense
except AttributeError as problem:
    print(problem)
""",
        *words,
    )
    assert (done.stdout, done.stderr) == ("module 'asyncio' has no attribute 'Nonsense'\n", "")


@pytest.mark.process
def test_executors_subprocesses_and_staggered_connections_work_after_a_lean_start() -> None:
    done = python(
        LEAN
        + """
async def main():
    print(await asyncio.to_thread(lambda: 1 + 1))
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(3)", stdout=asyncio.subprocess.PIPE)
    print((await child.communicate())[0].decode().strip())
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("localhost", port, happy_eyeballs_delay=0.1)
    print(await reader.read())
    writer.close()
    server.close()
asyncio.run(main())
"""
    )
    assert (done.stdout, done.stderr) == ("2\n3\nb''\n", "")


@pytest.mark.process
def test_tls_works_after_a_lean_start() -> None:
    done = python(
        LEAN
        + """
import ssl
async def main():
    plain = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    try:
        await asyncio.open_connection(*plain.sockets[0].getsockname(), ssl=ssl.create_default_context())
    except (ssl.SSLError, OSError):
        print("a handshake was tried")
    plain.close()
asyncio.run(main())
"""
    )
    assert (done.stdout, done.stderr) == ("a handshake was tried\n", "")


@pytest.mark.process
def test_what_asyncio_has_to_say_is_said_after_a_lean_start() -> None:
    done = python(
        LEAN
        + """
async def main():
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    await asyncio.sleep(0)
asyncio.run(main())
"""
    )
    assert "ZeroDivisionError" in done.stderr
    assert "Exception in callback" in done.stderr


@pytest.mark.process
def test_modules_imported_after_a_lean_start_are_the_real_ones() -> None:
    done = python(
        LEAN
        + """
import concurrent.futures, inspect, logging.handlers, traceback, typing
logging.basicConfig(level="DEBUG", format="%(message)s")
async def main():
    print(typing.get_type_hints(main), inspect.iscoroutinefunction(main), concurrent.futures.Future.__name__)
asyncio.run(main())
"""
    )
    assert done.stdout == "{} True Future\n"
    assert "Using selector" in done.stderr  # logging was configured: asyncio's debug messages come


@pytest.mark.process
def test_debug_mode_gets_asyncio_whole() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", LEAN + "print('inspect' in sys.modules)"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("True\n", "")


CONSOLE = "import sys; from kcli.cli.main import console; console()"


@pytest.mark.process
def test_the_console_script_writes_everything_and_tells_its_code() -> None:
    done = python(CONSOLE, "--help")
    assert done.returncode == 0
    assert done.stdout.endswith("\n")
    assert "produce" in done.stdout
    wrong = python(CONSOLE, "produce")
    assert wrong.returncode == 2
    assert "missing topic: kcli produce TOPIC" in wrong.stderr


@pytest.mark.process
def test_the_console_script_ends_quietly_when_the_reader_left() -> None:
    reader = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    reader.wait(10)
    assert reader.stdin is not None
    with reader.stdin:
        done = subprocess.run(
            [sys.executable, "-c", CONSOLE, "--help"],
            stdout=reader.stdin,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
