"""What TLS costs a client on asyncio that looks at no byte: the bound of the rows with TLS.

A process of its own sends; ours counts what comes, once through asyncio's TLS, as kcli reads, and once from a socket
that blocks, which is what no event loop can be below.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.process import median
from kcli.sandbox.access.tls import make_certificates

SENT = 256 * 1024 * 1024
RECORD = 110
"""Bytes of a record of 100 B in its batch."""
PIECE = 1 << 20


def serve(certificate: str, key: str) -> None:
    """Send to one client, on a port that is printed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        plain, _ = listening.accept()
        with context.wrap_socket(plain, server_side=True) as peer:
            for _ in range(SENT // PIECE):
                peer.sendall(bytes(PIECE))


class Counting(asyncio.BufferedProtocol):
    """Counts the bytes that come until all have."""

    def __init__(self, done: asyncio.Future[None]) -> None:
        self._done, self._left, self._room = done, SENT, memoryview(bytearray(PIECE))

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        self._left -= nbytes
        if self._left <= 0 and not self._done.done():
            self._done.set_result(None)


def on_asyncio(port: int, context: ssl.SSLContext) -> None:
    async def read() -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        transport, _ = await asyncio.get_running_loop().create_connection(
            lambda: Counting(done), "127.0.0.1", port, ssl=context
        )
        await done
        transport.abort()

    asyncio.run(read())


def blocking(port: int, context: ssl.SSLContext) -> None:
    room, left = bytearray(PIECE), SENT
    with socket.create_connection(("127.0.0.1", port)) as plain, context.wrap_socket(plain) as peer:
        while left > 0:
            left -= peer.recv_into(room)


def nanoseconds(read: Callable[[int, ssl.SSLContext], None], certificate: str, key: str) -> float:
    """CPU of ours, per record of 100 B."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    words = [sys.executable, "-m", "benchmarks.bound_tls", certificate, key]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        begin = time.process_time()
        read(port, context)
        cost = time.process_time() - begin
        server.wait(60)
    return cost / (SENT / RECORD) * 1e9


def measured(rounds: int) -> dict[str, float]:
    """Each way to its median."""
    ways = {"TLS through asyncio, a record of 100 B (ns)": on_asyncio, "TLS from a blocking socket (ns)": blocking}
    with tempfile.TemporaryDirectory(prefix="kcli-bench-") as folder:
        files = make_certificates(Path(folder))
        return {
            name: median([nanoseconds(way, files.certificate, files.key) for _ in range(rounds)])
            for name, way in ways.items()
        }


if __name__ == "__main__":
    serve(*sys.argv[1:3])
