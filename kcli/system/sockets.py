"""Sockets: exclusive listening addresses, and whether data has arrived."""

from __future__ import annotations

import os
import select
import socket
import sys


def share_nothing(listening: socket.socket) -> None:
    """Reuse the address right after its last user, but never share it: on Windows, SO_REUSEADDR would share it."""
    exclusive = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR if exclusive is None else exclusive, 1)


def is_readable(one: socket.socket) -> bool:
    """Whether reading would not block: data, an end or an error has arrived."""
    # Windows, where `select` takes any socket; elsewhere it only takes descriptors below 1024
    if not hasattr(select, "poll"):
        return bool(select.select([one], [], [], 0)[0])
    poll = select.poll()
    poll.register(one, select.POLLIN | select.POLLHUP | select.POLLERR)
    return bool(poll.poll(0))


def makes_room() -> bool:
    """Whether a socket's buffer grows to the value of SO_RCVLOWAT: on Linux 5.7 or later."""
    uname = getattr(os, "uname", None)  # not on Windows
    return sys.platform == "linux" and uname is not None and is_at_least(uname().release, (5, 7))


def is_at_least(release: str, wanted: tuple[int, int]) -> bool:
    """Compare a release such as `6.12.3-amd64`; False if it does not begin with two numbers."""
    numbers = release.split(".")[:2]
    return all(map(str.isdecimal, numbers)) and tuple(map(int, numbers)) >= wanted
