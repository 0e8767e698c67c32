"""YAML 1.2 (and so JSON) as maps with line numbers, lists and scalars.

PyYAML parses; what its events mean is decided here, because PyYAML's own resolver is that of YAML 1.1: `on`, `no`,
`0123` and `1:30` stay texts, as do all numbers. Only the core schema's true, false and null are values of their own.
Aliases share the value of their anchor, `<<` merges maps, and both are bounded: a small file cannot become a huge one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from kcli.cli.documents.input_file import Map
from kcli.errors import UsageError

WORDS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}  # the core schema: https://yaml.org/spec/1.2.2/#103-core-schema
TEXT_TAGS = (None, "!", "tag:yaml.org,2002:str")
MOST_ALIASES = 1_000
MOST_SHARED = 100_000
DEEPEST = 40
TO_ESCAPE = re.compile("[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What YAML 1.2 does not print, and the line ends of YAML 1.1, which PyYAML would make spaces of."""

EXPLAINED = [
    (r"expected ',' or '[\]}]', but got '<stream end>'", "this bracket is never closed", True),
    (r"expected the node content, but found '<stream end>'", "a bracket above is never closed", False),
    (r"found unexpected end of stream", "this quotation mark is never closed", True),
    (r"expected ',' or '([\]}])', but got.*", r"expected , or \1", False),
    (r"found character '\\t' that cannot.*", "YAML is indented with spaces, not with tabs", False),
    (r"found character '(.)' that cannot.*", r"a value that begins with \1 needs quotation marks", False),
    (r"mapping values are not allowed here", "unexpected key (check the indentation, and quote text that contains ': "
                                             "')", False),
    (r"could not find expected ':'", "expected KEY: VALUE", True),
    (r"expected <block end>, but found.*|sequence entries.*|expected the node.*|expected '<document start>'.*",
     "unexpected content (check the indentation)", False),
    (r"found unknown escape character '(.*)'", r"\\\1 is not a YAML escape; write \\\\ for a backslash", False),
]  # fmt: skip
"""PyYAML's problem, our sentence, and whether the line is where the construct began (else where it fails)."""


def load(text: str, path: str) -> Any:
    """The document: Map, list, str, bool or None; None for an empty one. Raises UsageError: FILE:LINE: what is wrong.

    libyaml is 18 times as fast, and refuses a few right documents (a character as \\ud83d\\ude00, as JSON has it); why
    it refuses depends on its version. So what it refuses is parsed again by PyYAML's own parser, which decides.
    """
    if (match := TO_ESCAPE.search(text)) is not None:
        if not _is_json(text):
            line = text.count("\n", 0, match.start()) + 1
            raise UsageError(
                f"{path}:{line}: the character U+{ord(match.group()):04X} is not allowed in YAML; escape it"
            )
        text = TO_ESCAPE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
    try:
        if yaml.__with_libyaml__:
            try:
                return _Builder(path, yaml.parse(text, yaml.CSafeLoader)).document()
            except yaml.YAMLError:
                pass  # PyYAML's own parser says why
        return _Builder(path, yaml.parse(text, _Loader)).document()
    except yaml.MarkedYAMLError as problem:
        raise UsageError(f"{path}:{_explained(problem)}") from None


def _is_json(text: str) -> bool:
    """JSON allows U+007F to U+009F, U+2028 and U+2029 in its strings, and nothing of TO_ESCAPE elsewhere."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _explained(problem: yaml.MarkedYAMLError) -> str:
    """LINE: what is wrong."""
    mark, says = problem.problem_mark, problem.problem or str(problem)
    for pattern, sentence, at_start in EXPLAINED:
        if (match := re.fullmatch(pattern, says, re.DOTALL)) is not None:
            says = match.expand(sentence)
            mark = problem.context_mark if at_start and problem.context_mark is not None else mark
            break
    return f"{mark.line + 1 if mark is not None else 1}: {says}"


class _Loader(yaml.SafeLoader):
    """Allows tabs between brackets, as JSON, YAML 1.2 and libyaml do."""

    def scan_to_next_token(self) -> None:
        super().scan_to_next_token()
        while self.flow_level and self.peek() == "\t":
            self.forward()
            super().scan_to_next_token()


class _Builder:
    """Builds the value of one document from events. A value's weight is how many values it holds, aliases written
    out: nine aliases of nine aliases of nine… share little memory, but a walk over them never ends."""

    def __init__(self, path: str, events: Iterator[Any]) -> None:
        self._path = path
        self._events = events
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._aliases = self._shared = 0

    def document(self) -> Any:
        next(self._events)  # StreamStartEvent
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return None
        value, _ = self._value(next(self._events), 0)
        next(self._events)  # DocumentEndEvent
        second = next(self._events)
        if not isinstance(second, yaml.StreamEndEvent):
            raise self._wrong(second, "a second document begins here; write one document per file")
        return value

    def _wrong(self, event: Any, why: str) -> UsageError:
        return UsageError(f"{self._path}:{event.start_mark.line + 1}: {why}")

    def _value(self, event: Any, depth: int) -> tuple[Any, int]:
        """A value and its weight. An anchor is known only behind its value, so nothing contains itself."""
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            value, weight = self._scalar(event), 1
        elif depth > DEEPEST:
            raise self._wrong(event, f"values are nested more than {DEEPEST} deep")
        else:
            self._check_tag(event, (None, "!"))
            value, weight = (self._map if isinstance(event, yaml.MappingStartEvent) else self._list)(depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = value, weight
        return value, weight

    def _alias(self, event: Any) -> tuple[Any, int]:
        if event.anchor not in self._anchors:
            raise self._wrong(event, f"*{event.anchor} has no anchor &{event.anchor} above it")
        self._aliases += 1
        if self._aliases > MOST_ALIASES:
            raise self._wrong(event, f"more than {MOST_ALIASES:,} aliases; write the values out")
        value, weight = self._anchors[event.anchor]
        self._shared += weight
        if self._shared > MOST_SHARED:
            raise self._wrong(event, f"aliases stand for more than {MOST_SHARED:,} values; write fewer of them")
        return value, weight

    def _scalar(self, event: Any) -> Any:
        self._check_tag(event, TEXT_TAGS)
        if event.tag is None and event.implicit[0] and event.value in WORDS:
            return WORDS[event.value]
        return self._text(event)

    def _text(self, event: Any) -> str:
        text: str = event.value
        if not any("\ud800" <= char <= "\udfff" for char in text):
            return text
        try:
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")  # JSON writes 😀 as \ud83d\ude00
        except UnicodeDecodeError:
            raise self._wrong(event, "an unpaired surrogate is not a character") from None

    def _check_tag(self, event: Any, known: tuple[str | None, ...]) -> None:
        if event.tag not in known:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            raise self._wrong(event, f"the tag {tag} is not supported; remove it")

    def _list(self, depth: int) -> tuple[list[Any], int]:
        values, weight = [], 1
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            value, its_weight = self._value(event, depth + 1)
            values.append(value)
            weight += its_weight
        return values, weight

    def _map(self, depth: int) -> tuple[Map, int]:
        values, weight, merged = Map(), 1, list[Map]()
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event)
            value, its_weight = self._value(next(self._events), depth + 1)
            weight += its_weight
            if key == "<<" and isinstance(event, yaml.ScalarEvent) and event.implicit[0]:
                merged += self._merged(event, value)
                continue
            if key in values:
                raise self._wrong(event, f"{key} is in this map twice; remove one of them")
            values[key] = value
            values.lines[key] = event.start_mark.line + 1
        for source in merged:
            for key, value in source.items():
                if key not in values:
                    values[key], values.lines[key] = value, source.lines[key]
        return values, weight

    def _key(self, event: Any) -> str:
        """A key is the text that is written: `true` and `1` too."""
        if isinstance(event, yaml.AliasEvent):
            key, _ = self._alias(event)
            if isinstance(key, str):
                return key
        elif isinstance(event, yaml.ScalarEvent):
            self._check_tag(event, TEXT_TAGS)
            if event.anchor is not None:
                self._anchors[event.anchor] = self._text(event), 1
            return self._text(event)
        raise self._wrong(event, "a key must be a string")

    def _merged(self, event: Any, value: Any) -> list[Map]:
        """The maps of `<<: *map` or `<<: [*map, *map]`: what a map says itself counts, then the first of these."""
        maps = value if isinstance(value, list) else [value]
        if not all(isinstance(source, Map) for source in maps):
            raise self._wrong(event, "<< merges maps: <<: *ANCHOR or <<: [*ANCHOR, *ANCHOR]")
        return maps
