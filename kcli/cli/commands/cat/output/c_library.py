"""Values as Apache Avro's C library writes them as JSON (avro_value_to_json of 1.11), which is what kcat prints.

It differs from the specification's JSON: branches of unions have the names without namespaces, numbers have 17 digits,
a float those of a double, and what is not ASCII is escaped. Strings and bytes are not cut at their first NUL, as the C
library cuts them, and NaN and infinities, which it refuses, are texts.
"""

from __future__ import annotations

import json
import re

from kcli.proto import avro_code as op
from kcli.proto.core import AvroReader
from kcli.serde.avro.program import PLAIN, Program
from kcli.serde.schemas.payloads import read_one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.serde.avro.types import Type


class _CProgram(Program):
    plain = PLAIN | {"float": op.FLOAT_AS_DOUBLE}

    def label(self, branch: Type) -> str:
        return branch.name.rpartition(".")[2]


class CReader:
    """Reads payloads of one schema."""

    def __init__(self, writer: Type) -> None:
        self._reader = AvroReader(*_CProgram(logical=False, wrapped=True).made(writer, None))

    def json(self, data: bytes) -> bytes:
        """A payload's JSON. Raises Unreadable."""
        return _TOKEN.sub(_spelled, read_one(self._reader, data).decode()).encode()


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|[,:]')
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|.)")


def _spelled(token: re.Match[str]) -> str:
    text = token[0]
    if text in ",:":
        return f"{text} "
    if text[0] == '"':
        return _ESCAPE.sub(_escaped, json.dumps(json.loads(text)))
    return text if text.lstrip("-").isdigit() else _digits(float(text))


def _escaped(found: re.Match[str]) -> str:
    code = found[1]
    if code is None:
        return found[0]
    return "\x7f" if code == "007f" else f"\\u{code.upper()}"


def _digits(number: float) -> str:
    """As C's `%.17g`, with a point or an exponent without zeros in front."""
    digits, e, exponent = f"{number:.17g}".partition("e")
    if e:
        return f"{digits}e{int(exponent)}"
    return digits if "." in digits else f"{digits}.0"
