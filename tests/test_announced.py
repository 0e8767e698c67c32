"""An announced frame costs what has arrived of it: in the client, in the sandbox, over all connections of that."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcli.client import Client
from kcli.sandbox import Sandbox
from kcli.sandbox.wire.connection import MOST_HELD
from kcli.settings import ClientSettings, parse_bootstrap

MB = 1024 * 1024
ANNOUNCED = 100 * MB

pytestmark = pytest.mark.process
needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc")


@pytest.mark.kcli_violates
async def test_a_broker_that_announces_a_large_answer_takes_no_memory() -> None:
    async with Sandbox() as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), deadline=30.0)) as client:
            await client.cluster.refresh([])
            sandbox.faults.wire.answer_size("Metadata", ANNOUNCED)
            tracemalloc.start()
            try:
                asked = asyncio.ensure_future(client.cluster.refresh(["t"]))
                for _ in range(1000):
                    if not sandbox.faults.pending:
                        break
                    await asyncio.sleep(0.01)
                await asyncio.wait([asked], timeout=0.5)
                assert not asked.done()  # it waits for the rest
                assert tracemalloc.get_traced_memory()[1] < 8 * MB
            finally:
                tracemalloc.stop()
                asked.cancel()
                await asyncio.gather(asked, return_exceptions=True)


class Peer:
    """A sandbox as a process, and its resident memory."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kcli.sandbox", "--exit-with-stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        told = json.loads(self.process.stdout.readline())
        self.address = parse_bootstrap(told["bootstrap"])[0]
        self.connections: list[socket.socket] = []

    @property
    def resident(self) -> int:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def send(self, data: bytes) -> bool:
        """On a connection of its own, which stays open; False where the other end closed it meanwhile."""
        one = socket.create_connection(tuple(self.address), timeout=20)
        self.connections.append(one)
        try:
            one.sendall(data)
        except OSError:
            return False
        return True

    def until(self, true: Callable[[], bool]) -> bool:
        end = time.monotonic() + 20
        while not true():
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def end(self) -> None:
        for one in self.connections:
            one.close()
        self.process.communicate(timeout=30)


@pytest.fixture
def peer() -> Iterator[Peer]:
    peer = Peer()
    yield peer
    peer.end()


@pytest.mark.process
@needs_proc
def test_twenty_connections_that_announce_much_take_a_sandbox_no_memory(peer: Peer) -> None:
    before = peer.resident
    for _ in range(20):
        peer.send(ANNOUNCED.to_bytes(4, "big") + bytes(10))
    time.sleep(0.5)  # what must not come has had its time
    assert peer.resident - before < 40 * MB


@pytest.mark.process
@needs_proc
def test_all_connections_together_take_no_more_than_the_cap_and_give_it_back(peer: Peer) -> None:
    """Twenty send 30 MB each of a frame that never ends: the last ones are cut off."""
    before = peer.resident
    half = ANNOUNCED.to_bytes(4, "big") + bytes(30 * MB)
    for _ in range(20):
        peer.send(half)
        assert peer.resident - before < MOST_HELD + 100 * MB
    for one in peer.connections:
        one.close()
    assert peer.until(lambda: peer.resident - before < 60 * MB), (peer.resident - before) // MB
