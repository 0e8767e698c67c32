"""Whether one schema can read data of another, by the rules and in the words of Avro's `SchemaCompatibility` (Java,
1.12), and the seven compatibility levels of a registry. No look-ups."""

from __future__ import annotations

from collections import namedtuple

from kcli.schemas import SchemaRefused
from kcli.serde.avro.resolve import PROMOTED
from kcli.serde.avro.types import Array, Enum, Fixed, Map, Named, Record, Type, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import NamedTuple, TypeVar

    V = TypeVar("V")

    class Incompatibility(NamedTuple):
        """A reason for incompatibility. `type` is Avro's name for it, `location` a path in the reader's schema such as
        `/fields/0/type`, `message` Avro's text: the field, the types, the symbols."""

        type: str
        location: str
        message: str

    class Violation(NamedTuple):
        """Why a level is violated: by `versions[version]`, when read by the new schema (`backward`) or when reading its
        data (`forward`)."""

        version: int
        direction: str
        reason: Incompatibility

    Found = dict[Incompatibility, None]  # an ordered set
    Key = tuple[int, int, bool]  # ids of a pair of types, and whether a verdict is enough
    Step = Generator[tuple[Type, Type, str | None], Found, Found]
else:
    Incompatibility = namedtuple("Incompatibility", "type location message")
    Violation = namedtuple("Violation", "version direction reason")

BACKWARD, FORWARD = "backward", "forward"
LEVELS = {
    "NONE": ((), False),
    "BACKWARD": ((BACKWARD,), False),
    "BACKWARD_TRANSITIVE": ((BACKWARD,), True),
    "FORWARD": ((FORWARD,), False),
    "FORWARD_TRANSITIVE": ((FORWARD,), True),
    "FULL": ((BACKWARD, FORWARD), False),
    "FULL_TRANSITIVE": ((BACKWARD, FORWARD), True),
}
"""The requirements of each level: the directions, and whether for all versions or only the latest one."""

MOST_PAIRS = 1_000_000  # pairs of types to compare
MOST_REASONS = 1_000


def check(
    level: str, new: V, versions: Sequence[V], reasons: Callable[[V, V], list[Incompatibility]] | None = None
) -> list[Violation]:
    """Return why a new schema violates a level, the latest version first; empty if it does not.

    `versions` are the existing ones, the oldest first. `reasons` returns why a reader's schema cannot read a writer's;
    None means Avro's rules. Raises ValueError for an unknown level, SchemaRefused like `incompatibilities`.
    """
    found: Callable[[V, V], list[Incompatibility]] = reasons or incompatibilities  # type: ignore[assignment]
    if level not in LEVELS:
        raise ValueError(f"unknown compatibility level {level}; the levels are {', '.join(LEVELS)}")
    violations = []
    numbers = compared(level, range(len(versions)))
    for number in reversed(numbers):
        for direction in LEVELS[level][0]:
            reader, writer = (new, versions[number]) if direction == BACKWARD else (versions[number], new)
            violations += [Violation(number, direction, reason) for reason in found(reader, writer)]
    return violations


def compared(level: str, versions: Sequence[V]) -> Sequence[V]:
    """Return those of the versions, the oldest first, that a level compares with a new one."""
    directions, every = LEVELS[level]
    return versions if directions and every else versions[-1:] if directions else versions[:0]


def incompatibilities(reader: Type, writer: Type) -> list[Incompatibility]:
    """Return why the reader's schema cannot read everything that the writer's can write; empty if it can. Raises
    SchemaRefused if there are more than a million pairs of types to compare."""
    refuted: dict[Key, Found] = {}
    left = MOST_PAIRS
    while True:
        comparison = _Comparison(refuted, left)
        reasons = comparison.run(reader, writer)
        if not comparison.mistaken:
            return list(reasons)
        refuted, left = {**refuted, **comparison.mistaken}, comparison.left


class _Comparison:
    """A walk over both schemas. A recursive pair of types is assumed to be compatible; if that proves wrong
    (`mistaken`), another walk starts with that knowledge, so that no other pair is wrongly found compatible.

    The walk uses a stack of generators instead of calls, because a schema may chain ten thousand names. Each generator
    yields inner types with their location, receives the reasons, and returns its own. Without a location (None) one
    reason is enough: inside a union only the verdict counts.
    """

    def __init__(self, refuted: dict[Key, Found], left: int) -> None:
        self.results = dict(refuted)
        self.left = left
        self.mistaken: dict[Key, Found] = {}
        self._open: set[tuple[int, int]] = set()
        self._assumed: set[tuple[int, int]] = set()
        self._indexes: dict[int, dict[str, list[Type]]] = {}

    def run(self, reader: Type, writer: Type) -> Found:
        stack: list[tuple[Key, Step]] = []
        reasons = self._enter(stack, reader, writer, "")
        while stack:
            key, step = stack[-1]
            try:
                asked = step.send(reasons) if reasons is not None else next(step)
            except StopIteration as end:
                stack.pop()
                reasons = end.value
                self._close(key, reasons or {})
            else:
                reasons = self._enter(stack, *asked)
        return reasons or {}

    def _enter(self, stack: list[tuple[Key, Step]], reader: Type, writer: Type, at: str | None) -> Found | None:
        """Return the known result for a pair; None if the pair was pushed to the stack."""
        key = id(reader), id(writer), at is None
        if key in self.results:
            return self.results[key]
        pair = key[:2]
        if pair in self._open:
            self._assumed.add(pair)
            return {}
        self.left -= 1
        if self.left < 0:
            raise SchemaRefused(f"the Avro schemas are not compared: they have more than {MOST_PAIRS:,} pairs of types")
        self._open.add(pair)
        stack.append((key, self._step(reader, writer, at)))
        return None

    def _close(self, key: Key, reasons: Found) -> None:
        pair = key[:2]
        self._open.discard(pair)
        for verdict in {key[2], True}:  # a list of all reasons is also a verdict
            self.results[(*pair, verdict)] = reasons
            if reasons and pair in self._assumed:
                self.mistaken[(*pair, verdict)] = reasons

    def _step(self, reader: Type, writer: Type, at: str | None) -> Step:
        if isinstance(writer, Union):
            return _branches(reader, writer, at)
        if isinstance(reader, Union):
            return self._one_of(reader, writer, at)
        return _alike(reader, writer, at)

    def _one_of(self, reader: Union, writer: Type, at: str | None) -> Step:
        """One of the reader's branches must be able to read it. Branches of another kind or name are skipped."""
        if id(reader) not in self._indexes:
            self._indexes[id(reader)] = _index(reader)
        index = self._indexes[id(reader)]
        for key in _keys(writer):
            for branch in index.get(key, ()):
                if not (yield branch, writer, None):
                    return {}
        return _lacking(writer, at)


def _index(union: Union) -> dict[str, list[Type]]:
    """Return a union's branches by kind, by the name without its namespace, and by the aliases."""
    index: dict[str, list[Type]] = {}
    for branch in union.branches:
        keys = [f"alias {alias}" for alias in branch.aliases] if isinstance(branch, Named) else []
        for key in (_keys(branch)[0], *keys):
            index.setdefault(key, []).append(branch)
    return index


def _keys(writer: Type) -> list[str]:
    """Return the keys of `_index` for branches that may read this type."""
    if isinstance(writer, Named):
        return [f"{writer.kind} {writer.name.rpartition('.')[2]}", f"alias {writer.name}"]
    return [writer.kind, *PROMOTED.get(writer.kind, ())]


def _branches(reader: Type, writer: Union, at: str | None) -> Step:
    """Each of the writer's branches must be readable."""
    reasons: Found = {}
    for number, branch in enumerate(writer.branches):
        inside = None if isinstance(reader, Union) else _in(at, number)
        inner = yield reader, branch, inside
        if inner and isinstance(reader, Union):
            inner = _lacking(branch, _in(at, number))
        reasons |= inner
        if reasons and at is None:
            break
    return reasons


def _alike(reader: Type, writer: Type, at: str | None) -> Step:
    """Compare two types that are not unions."""
    if isinstance(reader, Array) and isinstance(writer, Array):
        return (yield reader.items, writer.items, _in(at, "items"))
    if isinstance(reader, Map) and isinstance(writer, Map):
        return (yield reader.values, writer.values, _in(at, "values"))
    reasons = _simple(reader, writer, at)
    if isinstance(reader, Record) and isinstance(writer, Record):
        by_name = {field.name: field for field in writer.fields}
        for number, field in enumerate(reader.fields):
            if len(reasons) >= (1 if at is None else MOST_REASONS):
                break
            names = (field.name, *field.aliases)
            other = next((by_name[name] for name in names if name in by_name), None)
            if other is not None:
                reasons |= yield field.type, other.type, _in(at, f"fields/{number}/type")
            elif not field.has_default:
                reasons |= _reason("READER_FIELD_MISSING_DEFAULT_VALUE", _in(at, f"fields/{number}"), field.name)
    return reasons


def _simple(reader: Type, writer: Type, at: str | None) -> Found:
    """Compare two types without their parts."""
    if reader.kind != writer.kind and reader.kind not in PROMOTED.get(writer.kind, ()):
        kinds = f"reader type: {reader.kind.upper()} not compatible with writer type: {writer.kind.upper()}"
        return _reason("TYPE_MISMATCH", at, kinds)
    reasons: Found = {}
    if isinstance(reader, Named) and isinstance(writer, Named):
        own, other = reader.name.rpartition(".")[2], writer.name.rpartition(".")[2]
        if own != other and writer.name not in reader.aliases:
            reasons |= _reason("NAME_MISMATCH", _in(at, "name"), f"expected: {writer.name}")
    if isinstance(reader, Fixed) and isinstance(writer, Fixed) and reader.size != writer.size:
        sizes = f"expected: {writer.size}, found: {reader.size}"
        reasons |= _reason("FIXED_SIZE_MISMATCH", _in(at, "size"), sizes)
    if isinstance(reader, Enum) and isinstance(writer, Enum) and reader.default not in reader.symbols:
        known = set(reader.symbols)
        lost = [symbol for symbol in writer.symbols if symbol not in known]
        if lost:
            reasons |= _reason("MISSING_ENUM_SYMBOLS", _in(at, "symbols"), f"[{', '.join(lost)}]")
    return reasons


def _in(at: str | None, part: str | int) -> str | None:
    return None if at is None else f"{at}/{part}"


def _reason(type: str, location: str | None, message: str) -> Found:
    return {Incompatibility(type, location or "/", message): None}


def _lacking(writer: Type, location: str | None) -> Found:
    return _reason("MISSING_UNION_BRANCH", location, f"reader union lacking writer type: {writer.kind.upper()}")
