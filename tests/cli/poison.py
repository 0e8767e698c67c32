"""A sandbox whose every answer is hostile: each string of each answer, as the declarations have them, ends in what a
terminal would obey. Requests lose it again, so that the sandbox still knows what is asked for."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kcli.cli.main import main
from kcli.proto.compile import Wire, fields_of
from kcli.proto.schema import Response, Struct
from kcli.proto.session import Received, ServerSession
from kcli.text.escape import _HIDDEN
from tests.cli.conftest import redirected

EVIL = (
    "\x1b]0;T\x07\x1b]52;c;eA==\x1b\\\x1b[35;45m\x9b2J\x85\u202e\u2066\u200b\ufeff\U000e0041"
    "\r\n\x08\x7f[@click=app.quit][/x]"
)
ADDRESSES = {"host"}
"""Names of fields that are addresses: poisoned on demand only, for nobody could be asked anything then."""
OURS = re.compile(r"\r(?=\x1b\[2K)|\x1b\[(?:[0-9;]*m|\?25[lh]|[0-9]*[AFKJGH]|\?1049[lh]|[0-9;]*H|\?7[lh])")
"""What kcli itself sends to a terminal."""


class Poison:
    """What to do to answers: `addresses` too, `error` in every field of an error code, `only` these APIs."""

    def __init__(self, *, addresses: bool = False, error: int = 0) -> None:
        self.addresses, self.error = addresses, error
        self.fields: set[str] = set()

    def answer(self, value: Struct, name: str) -> Any:
        given = {}
        for field, wire in fields_of(type(value)):
            was = getattr(value, field.name)
            place = f"{type(value).__name__}.{field.name}"
            if field.name in ADDRESSES and not self.addresses:
                given[field.name] = was
            elif field.name == "error_code" and self.error and name != "ApiVersionsResponse":
                given[field.name] = self.error
            elif field.name == "error_message" and self.error:
                given[field.name] = EVIL
            else:
                given[field.name] = self._value(was, wire, name, place)
        return type(value)(**given)

    def _value(self, was: Any, wire: Wire, name: str, place: str) -> Any:
        if isinstance(was, str):
            self.fields.add(place)
            return was + EVIL
        if isinstance(was, list) and wire.element is not None:
            return [self._value(one, wire.element, name, place) for one in was]
        return self.answer(was, name) if isinstance(was, Struct) else was


def clean(value: Any) -> Any:
    """A request as an honest client would have sent it."""
    if isinstance(value, str):
        return value.replace(EVIL, "")
    if isinstance(value, list):
        return [clean(one) for one in value]
    if isinstance(value, Struct):
        return type(value)(**{field.name: clean(getattr(value, field.name)) for field, _ in fields_of(type(value))})
    return value


@contextlib.contextmanager
def poisoned(poison: Poison) -> Iterator[Poison]:
    """All sandboxes of this process are hostile meanwhile."""
    respond, receive = ServerSession.respond, ServerSession.receive

    def hostile(self: ServerSession, to: Received, response: Response, version: int | None = None) -> Any:
        return respond(self, to, poison.answer(response, type(response).__name__), version)

    def honest(self: ServerSession, frame: Any) -> Received:
        asked = receive(self, frame)
        asked.request = clean(asked.request)
        return asked

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerSession, "respond", hostile)
        patch.setattr(ServerSession, "receive", honest)
        yield poison


def on_a_terminal(*words: str, bootstrap: str) -> tuple[int, str]:
    """Run kcli with a terminal as stdin, stdout and stderr; its exit code and all that the terminal got. The word
    BOOTSTRAP is the address."""
    words = tuple(bootstrap if word == "BOOTSTRAP" else word for word in words)
    keyboard, terminal = pty.openpty()
    got = bytearray()

    def read() -> None:
        with contextlib.suppress(OSError):
            while piece := os.read(keyboard, 65536):
                got.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with redirected(terminal, terminal, terminal), pytest.MonkeyPatch.context() as patch:
            patch.setenv("KCLI_BOOTSTRAP", bootstrap)
            patch.setenv("COLUMNS", "4000")
            code = main(list(words))
    finally:
        os.close(terminal)
        reader.join(10)
        os.close(keyboard)
    return code, got.decode("utf-8", "surrogateescape")


def leaks(text: str) -> str:
    """What a terminal would obey in it that is not ours: "" where nothing is."""
    if "\x1b[35;45m" in text:
        return "a colour of the cluster's"
    left = OURS.sub("", text).replace("\r\n", "\n").replace("\x1b[0m", "")
    bad = [char for char in left if char not in "\n\t" and any(a <= ord(char) < b for a, b in _HIDDEN)]
    return f"{bad[:10]!r} in {left!r}"[:2000] if bad else ""
