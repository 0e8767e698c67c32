"""Sockets: an address for one listener alone, and whether something arrived."""

from __future__ import annotations

import os
import select
import socket
import sys


def share_nothing(listening: socket.socket) -> None:
    """Have the address right after its last user, but never beside one: Windows' SO_REUSEADDR would share it."""
    exclusive = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR if exclusive is None else exclusive, 1)


def is_readable(one: socket.socket) -> bool:
    """Whether reading would not wait: bytes, an end or an error arrived."""
    if not hasattr(select, "poll"):  # Windows, whose `select` takes any socket; elsewhere it takes the first 1024
        return bool(select.select([one], [], [], 0)[0])
    poll = select.poll()
    poll.register(one, select.POLLIN | select.POLLHUP | select.POLLERR)
    return bool(poll.poll(0))


def makes_room() -> bool:
    """Whether a socket's buffer grows to what SO_RCVLOWAT asks for: Linux from 5.7 on."""
    uname = getattr(os, "uname", None)  # not on Windows
    return sys.platform == "linux" and uname is not None and is_at_least(uname().release, (5, 7))


def is_at_least(release: str, wanted: tuple[int, int]) -> bool:
    """Of a release such as `6.12.3-amd64`; False where it does not begin with two numbers."""
    numbers = release.split(".")[:2]
    return all(map(str.isdecimal, numbers)) and tuple(map(int, numbers)) >= wanted
