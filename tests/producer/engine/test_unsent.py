"""A program that ends without leaving its blocks is told how many records may be lost."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kcli

pytestmark = pytest.mark.process
SETTINGS = "kcli.ProducerSettings(linger=60.0, delivery_timeout=300.0)"
SYNC = """
kafka = kcli.SyncClient(bootstrap)
kafka.__enter__()
producer = kafka.producer({settings})
producer.__enter__()
for number in range({count}):
    producer.send("t", b"v")
{end}
"""
ASYNC = """
import asyncio

async def main():
    client = kcli.Client(bootstrap)
    producer = client.producer({settings})
    await producer.start()
    for number in range({count}):
        await producer.send("t", b"v")
    {end}

asyncio.run(main())
"""
INSIDE = """
def work():
    kafka = kcli.SyncClient(bootstrap)
    kafka.__enter__()
    producer = kafka.producer({settings})
    producer.__enter__()
    for number in range({count}):
        producer.send("t", b"v")
    {end}

work()
import gc
gc.collect()
"""
LOST = "kcli: the program ends, and {} in the queue or on the wire and may be lost: leave the producer's `with` block"


def told(program: str, count: int = 3, end: str = "pass") -> str:
    """What a program that ends so says on stderr."""
    with kcli.SandboxThread(topics={"t": 1}) as sandbox:
        text = f"import kcli\nbootstrap = {sandbox.bootstrap!r}\n" + program.format(
            settings=SETTINGS, count=count, end=end
        )
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=True)
    return done.stderr


@pytest.mark.parametrize("program", [SYNC, INSIDE, ASYNC], ids=["sync", "in a function", "asyncio"])
def test_records_in_the_queue_are_counted_at_the_end(program: str) -> None:
    assert LOST.format("3 records are") in told(program)


def test_one_record_is_counted_as_one() -> None:
    assert LOST.format("1 record is") in told(SYNC, 1)


@pytest.mark.parametrize(
    ("program", "end"),
    [
        (SYNC, "producer.flush()"),
        (SYNC, "producer.__exit__(None, None, None)"),
        (SYNC, "kafka.__exit__(None, None, None)"),
        (ASYNC, "await producer.close()"),
        (ASYNC, "await client.__aexit__(None, None, None)"),
        (SYNC, "import os, sys\nif not os.fork(): sys.exit()\nos.wait(); producer.flush()"),
    ],
)
def test_nothing_is_said_where_each_record_has_an_outcome(program: str, end: str) -> None:
    assert "may be lost" not in told(program, end=end)


def test_nothing_is_said_without_a_record() -> None:
    assert "kcli:" not in told(SYNC, 0)
