"""What a kcat that was built with Avro prints, recorded in kcat_avro.json: topics of Avro, command lines, outputs.

Debian's kcat has no Avro. To record again, build kcat 1.7.1's sources with librdkafka, avro-c 1.11.1, libserdes and the
branch `edenhill` of edenhill/yajl (ENABLE_AVRO, ENABLE_JSON, YAJL_HAS_GEN_VERBATIM), start `kcli sandbox --registry`
and run `python -m tests.registry.kcat_avro KCAT BROKER REGISTRY`.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any, NamedTuple

import fastavro

from tests.cli.conftest import Shell
from tests.sandbox.registry.asking import register

RECORDED = Path(__file__).with_name("kcat_avro.json")
INNER = {"type": "record", "name": "Inner", "namespace": "other", "fields": [{"name": "n", "type": ["null", "long"]}]}
FIELDS: dict[str, Any] = {
    "none": "null", "yes": "boolean", "i": "int", "l": "long", "f": "float", "d": "double", "b": "bytes", "s": "string",
    "e": {"type": "enum", "name": "Colour", "symbols": ["RED", "GREEN"]},
    "x": {"type": "fixed", "name": "Four", "size": 4},
    "a": {"type": "array", "items": "int"}, "m": {"type": "map", "values": "string"},
    "u": ["null", "string", "shop.v1.Colour", INNER, {"type": "array", "items": "double"}, "float", "bytes"],
    "when": {"type": "long", "logicalType": "timestamp-millis"},
    "price": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
}  # fmt: skip
NEXT = {"name": "next", "type": ["null", "Node"]}
SCHEMAS: dict[str, Any] = {
    "all": {
        "type": "record", "name": "All", "namespace": "shop.v1",
        "fields": [{"name": name, "type": kind} for name, kind in FIELDS.items()],
    },
    "node": {"type": "record", "name": "Node", "fields": [{"name": "v", "type": "int"}, NEXT]},
    "string": "string", "long": "long", "union": ["null", "int", "string"], "double": "double",
    "list": {"type": "array", "items": {"type": "map", "values": "long"}},
    "two": {"type": "fixed", "name": "Two", "size": 2},
    "nothing": {"type": "record", "name": "Nothing", "fields": []},
}  # fmt: skip
TEXT = 'h\u00e9\n\t\x01\x08\x0c\r\x7f/ \U0001f600"\\'
PLAIN: dict[str, Any] = {
    "none": None, "yes": True, "i": -1, "l": 2**63 - 1, "f": 0.1, "d": 0.1, "b": b"\xff\x7f\"\\", "s": TEXT,
    "e": "GREEN", "x": b"\x01\x02\xfe\xff", "a": [1, 2, -3], "m": {"k": "v", "\u00e9": ""}, "u": None, "when": 0,
    "price": b"\x04\xd2",
}  # fmt: skip
BRANCHES = ["text", {"n": 5}, {"n": None}, ("shop.v1.Colour", "RED"), [1.5, 2.0], ("float", 3.25), b"\xe9"]
DOUBLES = [0.0, -0.0, 1.0, -1.0, 1e22, 1e16, 1e17, 123456789012345680.0, 1e-5, 0.0001, 1e-7, 1 / 3, 5e-324]
DOUBLES += [1.7976931348623157e308, 100.0, 12345.678, -1.5e-300]
FLOATS = [3.4028234663852886e38, 1.401298464324817e-45, 1.1, 16777216.0, 1e10, 0.0, -0.0]
EMPTY = {"yes": False, "a": [], "m": {}, "s": "", "b": b""}
CHANGES: list[dict[str, Any]] = [{}, EMPTY, *({"u": u} for u in BRANCHES), *({"d": d} for d in DOUBLES)]
ALL = [PLAIN | one for one in [*CHANGES, *({"f": f} for f in FLOATS)]]
UNFRAMED, SHORT = b"\1\2\3\4\5\6", b"\0\1"


class Row(NamedTuple):
    """What a command line has behind -C -e and the topic."""

    topic: str
    words: str


ROWS = [
    Row(topic, words)
    for topic, lines in {
        "all": ["-s value=avro", "-s value=avro -J", "-s avro -f %s|%S|%o\\n"],
        "node": ["-s value=avro"],
        "small": ["-s value=avro", "-s value=avro -J", "-s value=avro -Z"],
        "keyed": [
            "-s avro", "-s avro -K :", "-s key=avro", "-s key=avro -J", "-s avro -J", "-s key=avro -f %k;%s;%K\\n",
            "-s avro -s value=s", "-s value=avro -f %k=%s\\n", "-Z -s avro -K ,",
        ],
        "broken": [
            "-s value=avro", "-s value=avro -E", "-s value=avro -J", "-s value=avro -J -E", "-s value=avro -c 1",
            "-s key=avro -J -E", "-s avro -f <%k-%s>\\n -E",
        ],
    }.items()
    for words in lines
]  # fmt: skip


def payload(schema: str, value: object) -> bytes:
    out = io.BytesIO()
    text = re.sub(r', "logicalType": "[^"]*"(, "precision": 9, "scale": 2)?', "", json.dumps(SCHEMAS[schema]))
    plain = json.loads(text)
    fastavro.schemaless_writer(out, fastavro.parse_schema(plain), value)
    return out.getvalue()


class Scene:
    """The schemas registered, the topics filled."""

    def __init__(self, shell: Shell, registry: str) -> None:
        self.shell, self.registry = shell, registry
        self.ids: dict[str, int] = {}
        for name, schema in SCHEMAS.items():
            status, answer = register(registry, f"{name}-value", json.dumps(schema))
            assert status == 200, answer
            self.ids[name] = answer["id"]
        pairs = [("string", "plain"), ("string", ""), ("long", -(2**63)), ("union", None), ("union", 3), ("union", "x")]
        pairs += [("list", []), ("list", [{}, {"a": 1, "b": 2}]), ("two", b"\xc3\xa9"), ("nothing", {})]
        small: list[bytes | None] = [self.frame(name, value) for name, value in pairs]
        key = self.frame("long", 7)
        self._fill("all", [(None, self.frame("all", value)) for value in ALL])
        self._fill("node", [(None, self.frame("node", {"v": 1, "next": {"v": 2, "next": None}}))])
        self._fill("small", [(None, value) for value in (*small, None, b"")])
        self._fill("keyed", [(key, small[0]), (key, None), (None, small[5]), (b"", small[6]), (key, b"")])
        good = small[0]
        cut = self.frame("all", PLAIN)[:9]
        broken = [good, UNFRAMED, good, SHORT, cut, good, b""]
        self._fill("broken", [(key, value) for value in broken])

    def frame(self, schema: str, value: object) -> bytes:
        return b"\0" + self.ids[schema].to_bytes(4, "big") + payload(schema, value)

    def _fill(self, topic: str, records: list[tuple[bytes | None, bytes | None]]) -> None:
        def told(data: bytes | None) -> object:
            return None if data is None else {"base64": b64encode(data).decode()}

        rows = [json.dumps({"key": told(key), "value": told(value), "timestamp": 5}) for key, value in records]
        self.shell.ok("topics", "create", topic, "-p", "1")
        self.shell.ok("produce", topic, "--input", "json", stdin="\n".join(rows).encode() + b"\n")

    def words(self, row: Row) -> list[str]:
        where = ["-b", self.shell.bootstrap, "-t", row.topic, "-r", self.registry]
        return ["-C", "-e", "-q", *where, *row.words.split(" ")]

    def named(self, text: str) -> str:
        """Ids by the names of their schemas: another registry gives others."""
        names = {id: name for name, id in self.ids.items()}
        return re.sub(r'(_schema_id":)([0-9]+)', lambda found: found[1] + names[int(found[2])], text)


def main(kcat: str, bootstrap: str, registry: str) -> None:
    scene = Scene(Shell(bootstrap), registry)
    recorded = []
    for row in ROWS:
        done = subprocess.run([kcat, *scene.words(row)], capture_output=True, timeout=60, check=False)
        out, err = scene.named(done.stdout.decode("latin-1")), done.stderr.decode()
        recorded.append({"topic": row.topic, "words": row.words, "code": done.returncode, "out": out, "err": err})
    RECORDED.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
