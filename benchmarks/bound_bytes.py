"""What it costs to receive bytes without reading them: the bound of the rows with TLS and of those with large records.

A process of its own sends; ours counts what comes. As kcli does, through asyncio into a buffer that is there, in plain
text and with TLS; the same with the CRC-32C of each piece and one copy of it, which no record of a few KiB can do
without; and TLS from a socket that blocks, which is what no event loop can be below.
"""

from __future__ import annotations

import asyncio
import functools
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.process import median
from kcli.proto.core import crc32c
from kcli.sandbox.access.tls import make_certificates

SENT = 256 * 1024 * 1024
PIECE = 1 << 20
SMALL, LARGE = 110, 1040
"""Bytes of a record of 100 B and of 1 KiB in its batch."""

Read = Callable[[int], None]


def serve(certificate: str = "", key: str = "") -> None:
    """Send to one client, on a port that is printed."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        peer, _ = listening.accept()
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            peer = context.wrap_socket(peer, server_side=True)
        with peer:
            for _ in range(SENT // PIECE):
                peer.sendall(bytes(PIECE))


class Counting(asyncio.BufferedProtocol):
    """Counts the bytes that come until all have; with `look`, a piece that is whole is checked and copied."""

    def __init__(self, done: asyncio.Future[None], look: bool) -> None:
        self._done, self._look, self._left = done, look, SENT
        self._room, self._at = memoryview(bytearray(PIECE)), 0
        self._copy = bytearray(PIECE)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._room[self._at :]

    def buffer_updated(self, nbytes: int) -> None:
        self._left -= nbytes
        self._at = (self._at + nbytes) % PIECE
        if self._look and not self._at:
            crc32c(self._room)
            self._copy[:] = self._room
        if self._left <= 0 and not self._done.done():
            self._done.set_result(None)


def on_asyncio(port: int, *, context: ssl.SSLContext | None = None, look: bool = False) -> None:
    async def read() -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        transport, _ = await asyncio.get_running_loop().create_connection(
            lambda: Counting(done, look), "127.0.0.1", port, ssl=context
        )
        await done
        transport.abort()

    asyncio.run(read())


def blocking(port: int, *, context: ssl.SSLContext) -> None:
    room, left = bytearray(PIECE), SENT
    with socket.create_connection(("127.0.0.1", port)) as plain, context.wrap_socket(plain) as peer:
        while left > 0:
            left -= peer.recv_into(room)


def nanoseconds(read: Read, files: list[str], record: int) -> float:
    """CPU of ours, per record of `record` bytes."""
    words = [sys.executable, "-m", "benchmarks.bound_bytes", *files]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        begin = time.process_time()
        read(port)
        cost = time.process_time() - begin
        server.wait(60)
    return cost / (SENT / record) * 1e9


def measured(rounds: int) -> dict[str, float]:
    """What is done with a record to its median."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with tempfile.TemporaryDirectory(prefix="kcli-bench-") as folder:
        made = make_certificates(Path(folder))
        secret = [made.certificate, made.key]
        looking, coded = functools.partial(on_asyncio, look=True), functools.partial(on_asyncio, context=context)
        held = functools.partial(blocking, context=context)
        ways: dict[str, tuple[Read, list[str], int]] = {
            "a record of 100 B, TLS, asyncio": (coded, secret, SMALL),
            "a record of 100 B, TLS, a blocking socket": (held, secret, SMALL),
            "a record of 1 KiB, TLS, asyncio": (coded, secret, LARGE),
            "a record of 1 KiB, TLS, a blocking socket": (held, secret, LARGE),
            "a record of 1 KiB, its CRC and one copy": (looking, [], LARGE),
            "a record of 1 MB, its CRC and one copy": (looking, [], 1_000_000),
        }
        return {name: median([nanoseconds(*way) for _ in range(rounds)]) for name, way in ways.items()}


if __name__ == "__main__":
    serve(*sys.argv[1:])
