"""A broker in threads that answers as a table says, for commands that have an event loop of their own."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from kcli.proto.messages import api_name
from kcli.proto.messages.api_versions import ApiVersion, ApiVersionsResponse
from kcli.proto.messages.metadata import MetadataResponse, MetadataResponseBroker
from kcli.proto.session import ServerSession

Ranges = dict[int, tuple[int, int]]
Answers = dict[str, Callable[[Any], Any]]
MODERN: Ranges = {0: (0, 13), 1: (4, 17), 2: (1, 10), 3: (0, 12), 10: (0, 5), 17: (0, 1), 18: (0, 4), 36: (0, 2),
                  60: (0, 1)}  # fmt: skip


@contextlib.contextmanager
def speaking(answers: Answers | None = None, ranges: Ranges | None = None) -> Iterator[str]:
    """The address of a broker that knows the APIs of `ranges`. An API without an answer ends the connection; one whose
    answer is None does too. Metadata names this broker unless `answers` says otherwise."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    known = MODERN if ranges is None else ranges
    here = MetadataResponse(
        cluster_id="fake", controller_id=1, brokers=[MetadataResponseBroker(node_id=1, host="127.0.0.1", port=port)]
    )
    table: Answers = {
        "ApiVersions": lambda _: ApiVersionsResponse(
            api_keys=[ApiVersion(api_key=key, min_version=low, max_version=high) for key, (low, high) in known.items()]
        ),
        "Metadata": lambda _: here,
        **(answers or {}),
    }

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection, table), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(5)


def serve(connection: socket.socket, table: Answers) -> None:
    """One connection, until a request has no answer."""
    session = ServerSession()
    connection.settimeout(10)
    with connection, contextlib.suppress(OSError):
        while frame := _frame(connection):
            asked = session.receive(frame)
            make = table.get(api_name(asked.api_key))
            answer = make(asked.request) if make is not None else None
            if answer is None:
                return
            connection.sendall(b"".join(bytes(part) for part in session.respond(asked, answer)))


def _frame(connection: socket.socket) -> bytes:
    size = _exactly(connection, 4)
    return _exactly(connection, int.from_bytes(size, "big")) if size else b""


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            return b""
        data += part
    return data
