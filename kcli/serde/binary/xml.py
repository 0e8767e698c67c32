"""Converts XML to JSON with xmltodict's convention: an attribute is `@name`, text beside attributes and elements is
`#text`.

    <order id="7"><item>a</item><item>b</item><note/></order>
    {"order": {"@id": "7", "item": ["a", "b"], "note": null}}

An element with only text is the text, an empty one null, repeated ones a list. Values are strings, names keep their
prefix. The parser is Python's expat. Document types are refused before they are read, so only the five entities of XML
exist, and nothing outside the value is opened.
"""

from __future__ import annotations

import json
from xml.parsers import expat

from kcli.serde.schemas.payloads import PayloadReader, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEEPEST = 256
LONGEST = 16 << 20  # bytes of a value
MOST_ATTRIBUTES = 10_000  # of one element


class XmlReader(PayloadReader):
    """Reads documents."""

    def json(self, data: bytes) -> bytes:
        if len(data) > LONGEST:
            raise Unreadable(f"it is longer than {LONGEST >> 20} MiB")
        try:
            document = _Document(data).value
            return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
        except expat.ExpatError as problem:
            raise Unreadable(f"it is not XML: {expat.ErrorString(problem.code)}") from None
        except (ValueError, LookupError) as problem:  # an unsupported encoding, unpaired surrogates
            if isinstance(problem, Unreadable):
                raise
            raise Unreadable(f"it is not XML: {str(problem)[:100]}") from None


class _Document:
    """A document being read. `value` is an object with the root."""

    def __init__(self, data: bytes) -> None:
        self.value: dict[str, Any] = {}
        self._open: list[tuple[dict[str, Any], list[str]]] = [(self.value, [])]
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.Parse(data, True)

    def _doctype(self, *declared: object) -> None:
        raise Unreadable("it declares a document type, which is not read")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > DEEPEST:
            raise Unreadable(f"elements are nested more than {DEEPEST} deep")
        if len(attributes) > MOST_ATTRIBUTES:
            raise Unreadable(f"an element has more than {MOST_ATTRIBUTES:,} attributes")
        self._open.append(({f"@{key}": value for key, value in attributes.items()}, []))

    def _text(self, text: str) -> None:
        self._open[-1][1].append(text)

    def _end(self, name: str) -> None:
        fields, texts = self._open.pop()
        text = "".join(texts).strip()
        if text and fields:
            fields["#text"] = text
        value = fields or text or None
        around = self._open[-1][0]
        if name not in around:
            around[name] = value
        elif isinstance(around[name], list):
            around[name].append(value)
        else:
            around[name] = [around[name], value]
