"""Answers with wrong fields: what a broker says is changed in one or a few places, by seed, after the sandbox made it.

A message is changed as the declarations have it, so every answer can still be decoded: numbers become extreme or
unknown ones, strings odd ones, lists empty, doubled, shorter or null, bytes noise, structures null.
"""

from __future__ import annotations

import contextlib
import functools
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from kcli.errors import EncodeError
from kcli.proto.compile import Wire, fields_of
from kcli.proto.messages.api_versions import ApiVersionsResponse
from kcli.proto.schema import Response, Struct
from kcli.proto.session import Received, ServerSession
from kcli.values import Value

Path = tuple[str, ...]
BITS = {"Int8": 8, "Int16": 16, "Int32": 32, "Int64": 64, "UInt16": 16, "UInt32": 32}
ODD = (
    "", "\0", "a\0b", "x" * 300, "é", "日本", "\n", "\x1b[31m", "[/x]", "-1", "1e999", "{", "%s", "..", "/", "=", ":",
    "a:b", "127.0.0.1", "[::1", "999.1.1.1", "\ud7ff", "\u202e", "null", "true", "99999999999999999999", " ", "User:",
    "consumer", "share", "range", "2147483648", "[1,2]", "a.b", "٣",
)  # fmt: skip
NUMBERS = (-1, 0, 1, -2, 2, 3, 100, 255, 424_242, 70_000, 65_536, 1 << 40, 86_400_000, 253_402_300_800_000)

TRIES = 5  # to change a value into another
fields = functools.cache(fields_of)
_versions: dict[Any, tuple[bytes, bytes]] = {}
"""Frames that answer ApiVersions, before and after the correlation id."""


class Mutation:
    """The changes of one seed: `paths` are what a clean run was told. One of them changes in any case, another with the
    next seed, so that as many seeds as there are paths change each of them; `more` are how many others may change with
    it. `done` counts the fields that were changed.
    """

    def __init__(self, seed: int, paths: list[Path], more: tuple[int, ...] = (0, 0, 0, 1, 3)) -> None:
        self.random = Random(seed)
        in_turn, by_api = _sorted(tuple(paths))
        self.chosen = {in_turn[seed % len(paths)]}
        for _ in range(self.random.choice(more)):
            self.chosen.add(self.random.choice(by_api[self.random.choice([*by_api])]))
        self.above: dict[Path, set[str]] = {}  # the names of the fields of interest in a message or structure
        for path in self.chosen:
            for at in range(1, len(path)):
                self.above.setdefault(path[:at], set()).add(path[at])
        self.once = self.random.random() < 0.25  # else every answer, so that asking again changes nothing
        self.part = self.random.choice((1.0, 1.0, 0.5))  # of the elements of lists
        self.done: Counter[Path] = Counter()

    def answer(self, response: Response, version: int) -> Response:
        """The answer as this broker gives it."""
        name = type(response).__name__
        if (name,) not in self.above or (self.once and self.done):
            return response
        made: Response = self._struct(response, (name,), version)
        return made

    def _struct(self, value: Struct, path: Path, version: int) -> Any:
        given, names = {}, self.above[path]
        for field, wire in fields(type(value)):
            was = getattr(value, field.name)
            if field.name in names and version in field.extra.versions:
                place = (*path, field.name)
                if place in self.chosen and self.random.random() <= self.part:
                    other = functools.partial(self._other, was, wire, field.name, version in field.extra.null, version)
                    now = next((one for one in (other() for _ in range(TRIES)) if one != was), was)
                    self.done[place] += now != was
                    was = now
                elif place in self.above:
                    was = self._inside(was, wire, place, version)
            given[field.name] = was
        return type(value)(**given)

    def _inside(self, was: Any, wire: Wire, path: Path, version: int) -> Any:
        if isinstance(was, Struct):
            return self._struct(was, path, version)
        if isinstance(was, list) and wire.element is not None:
            return [self._inside(one, wire.element, path, version) for one in was]
        return was

    def _other(self, was: Any, wire: Wire, name: str, nullable: bool, version: int) -> Any:
        if nullable and self.random.random() < 0.3:
            return None
        if name == "error_code":
            return self.random.choice((-1, *range(1, 133), 9999, -32768, 32767))
        kind = wire.kind
        if kind in BITS:
            return self._number(kind)
        if kind == "bool":
            return not was
        if kind == "Float64":
            return self.random.choice((float("nan"), float("inf"), float("-inf"), -1.0, 0.0, 1e308))
        if kind == "Uuid":
            return self.random.choice((bytes(16), b"\xff" * 16, self.random.randbytes(16)))
        if kind == "str":
            return self.random.choice(ODD)
        if kind in ("bytes", "Records"):
            return self._bytes(bytes(was or b""))
        if kind == "list":
            return self._list(was or [], wire, version)
        return was

    def _number(self, kind: str) -> int:
        bits, low = BITS[kind], 0 if kind.startswith("U") else -1
        edges = (1 << bits) - 1 if low == 0 else (1 << bits - 1) - 1
        least = 0 if low == 0 else -(1 << bits - 1)
        fits = [one for one in NUMBERS if least <= one <= edges]
        return self.random.choice((least, edges, edges - 1, *fits))

    def _bytes(self, was: bytes) -> bytes:
        at = self.random.randrange(len(was) + 1)
        return self.random.choice(
            (b"", b"\0", self.random.randbytes(40), was[:at], was[:at] + b"\xff" + was[at + 1 :], was + was, was[at:])
        )

    def _list(self, was: list[Any], wire: Wire, version: int) -> list[Any]:
        element = wire.element
        assert element is not None
        changed = list(was)
        if was and element.kind in (*BITS, "str"):
            changed[self.random.randrange(len(was))] = self._other(was[0], element, "", False, version)
        longer = [*was, self._other(None, element, "", False, version)] if element.kind in (*BITS, "str") else [*was]
        return self.random.choice(([], was + was, was[1:], was[:-1], was[::-1], changed, longer, was * 50))


@functools.lru_cache(200)
def _sorted(paths: tuple[Path, ...]) -> tuple[list[Path], dict[str, list[Path]]]:
    """The paths, in the order in which the seeds take them, and by the name of their API."""
    by_api: dict[str, list[Path]] = {name: [] for name in sorted({path[0] for path in paths})}
    for path in paths:
        by_api[path[0]].append(path)
    return Random(0).sample(paths, len(paths)), by_api


def declared(kind: type[Value], path: Path) -> Iterator[Path]:
    """Every field that such an answer can have."""
    for field, wire in fields(kind):
        place = (*path, field.name)
        if field.name != "throttle_time_ms":
            yield place
        inner = wire.element if wire.element is not None else wire
        if inner.struct is not None:
            yield from declared(inner.struct, place)


def paths_of(value: Struct, path: Path, version: int, found: set[Path]) -> None:
    """Every field that an answer of this version has."""
    for field, wire in fields(type(value)):
        if version not in field.extra.versions or field.name == "throttle_time_ms":
            continue
        place = (*path, field.name)
        found.add(place)
        was = getattr(value, field.name)
        for one in was if isinstance(was, list) and wire.element is not None and wire.element.struct else [was]:
            if isinstance(one, Struct):
                paths_of(one, place, version, found)


@contextlib.contextmanager
def listening(found: set[Path]) -> Iterator[None]:
    """Learn the fields of all answers that the sandboxes of this process give meanwhile."""
    respond = ServerSession.respond

    def heard(self: ServerSession, to: Received, response: Response, version: int | None = None) -> Any:
        paths_of(response, (type(response).__name__,), to.version if version is None else version, found)
        return respond(self, to, response, version)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerSession, "respond", heard)
        yield


def _same_as_before(
    response: ApiVersionsResponse, version: int, correlation_id: int, respond: Callable[[], list[Any]]
) -> list[Any]:
    """What every connection asks first is answered in the same bytes, which are a fifth of a sandbox's work."""
    key = (
        version, response.error_code, response.throttle_time_ms, response.finalized_features_epoch,
        *[(one.name, one.max_version_level) for one in response.finalized_features],
        *[one.max_version for one in response.api_keys],
    )  # fmt: skip
    known = _versions.get(key)
    if known is None:
        frame = b"".join(respond())
        known = _versions[key] = frame[:4], frame[8:]
    return [known[0], correlation_id.to_bytes(4, "big", signed=True), known[1]]


@contextlib.contextmanager
def mutated(mutation: Mutation) -> Iterator[None]:
    """All sandboxes of this process answer so meanwhile."""
    respond = ServerSession.respond
    versions_change = (ApiVersionsResponse.__name__,) in mutation.above

    def wrong(self: ServerSession, to: Received, response: Response, version: int | None = None) -> Any:
        at = to.version if version is None else version
        if type(response) is ApiVersionsResponse and not versions_change:
            return _same_as_before(response, at, to.correlation_id, lambda: respond(self, to, response, version))
        try:
            return respond(self, to, mutation.answer(response, at), version)
        except (EncodeError, struct.error):  # what cannot be said is not said
            return respond(self, to, response, version)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerSession, "respond", wrong)
        yield
