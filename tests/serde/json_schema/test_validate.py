"""JSON held against JSON schemas: drafts, references, places of violations, and schemas made to hurt."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from typing import IO, Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcli.errors import UsageError
from kcli.schemas import SchemaRefused
from kcli.serde.json_schema import child as children
from kcli.serde.json_schema.child import GIVEN_UP, TooSlow
from kcli.serde.json_schema.reader import JsonReader
from kcli.serde.json_schema.validate import JsonValidator, Library
from kcli.serde.schemas.payloads import Unreadable
from tests.each import each
from tests.effort import tries

ORDER = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "items": {"type": "array", "items": {"$ref": "item.json"}}},
    "required": ["id"],
}
ITEM = {"type": "object", "properties": {"price": {"type": "number", "minimum": 0}}}
SECONDS = 5.0  # of CPU, for what must take milliseconds


def problem(schema: Any, value: Any, *references: tuple[str, Any]) -> str | None:
    return JsonValidator(json.dumps(schema), [(name, json.dumps(one)) for name, one in references]).problem(value)


def test_what_holds_and_what_does_not_with_its_place() -> None:
    item = ("item.json", ITEM)
    assert problem(ORDER, {"id": 1, "items": [{"price": 2.5}]}, item) is None
    assert problem(ORDER, {"id": "x"}, item) == 'id: "x" is not of type "integer"'
    said = problem(ORDER, {"items": [{"price": 1}, {"price": -1}]}, item)
    assert said is not None
    assert "items[1].price: -1 is less than the minimum of 0" in said
    assert '"id" is a required property' in said
    assert problem({"maxLength": 1, "minLength": 5, "pattern": "z", "enum": [1]}, "abc") is not None


@each("name", ["item.json", "https://example.com/item.json", "shop/item.json"])
def test_references_are_those_of_the_registry(name: str) -> None:
    schema = {"$ref": name}
    assert problem(schema, {"price": -1}, (name, ITEM)) == "price: -1 is less than the minimum of 0"
    assert problem({"$ref": "urn:item"}, {"price": -1}, (name, {**ITEM, "$id": "urn:item"})) is not None


@each("id", ["https://example.com/shop/order.json", "https://example.com/shop/"])
def test_a_reference_may_be_relative_to_an_absolute_id(id: str) -> None:
    said = "price: -1 is less than the minimum of 0"
    assert problem({"$id": id, "$ref": "item.json"}, {"price": -1}, ("item.json", ITEM)) == said
    inner = {"$id": id, "$ref": "parts/price.json"}
    price = {"properties": {"price": {"minimum": 0}}}
    assert problem({"$ref": "order.json"}, {"price": -1}, ("parts/price.json", price), ("order.json", inner)) == said


@each("target", ["item.json", "http://127.0.0.1:1/x.json", "file:///etc/passwd"])
def test_nothing_else_is_fetched(target: str) -> None:
    with pytest.raises(
        SchemaRefused, match=r"the JSON schema is not used: (.*none of the schema's references|.*retrieving it failed)"
    ):
        problem({"$ref": target}, 1)


@each(
    ("draft", "schema", "value"),
    [
        ("http://json-schema.org/draft-04/schema#", {"minimum": 1, "exclusiveMinimum": True}, 1),
        ("http://json-schema.org/draft-06/schema#", {"exclusiveMinimum": 1}, 1),
        ("http://json-schema.org/draft-07/schema#", {"if": {"const": 1}, "then": False}, 1),
        ("https://json-schema.org/draft/2019-09/schema", {"dependentRequired": {"a": ["b"]}}, {"a": 1}),
        ("https://json-schema.org/draft/2020-12/schema", {"prefixItems": [{"type": "null"}]}, [1]),
        (None, {"if": {"const": 1}, "then": False}, 1),
    ],
)
def test_drafts(draft: str | None, schema: Any, value: Any) -> None:
    assert problem(schema if draft is None else {"$schema": draft, **schema}, value) is not None


@each("text", ["", "[1]", '{"type": "what"}', "{", '{"$schema": 7}', "[" * 100_000, '{"a":' * 100_000, " " * (5 << 20)])
def test_schemas_that_are_refused(text: str) -> None:
    with pytest.raises(SchemaRefused, match="the JSON schema is not used"):
        JsonValidator(text)


def test_a_pattern_cannot_hang() -> None:
    began = time.process_time()
    problem({"pattern": "^(a+)+$"}, "a" * 5000 + "b")
    problem({"pattern": "^(?=(a+)+$)"}, "a" * 5000 + "b")
    assert time.process_time() - began < SECONDS


def test_a_reader_holds_values_against_the_schema() -> None:
    reader = JsonReader(JsonValidator('{"type": "object"}'))
    assert reader.json(b'{"a": 1 }') == b'{"a": 1 }'
    with pytest.raises(Unreadable, match='its schema forbids it: 7 is not of type "object"'):
        reader.json(b"7")


def test_without_the_package_the_line_to_install_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    with pytest.raises(UsageError, match=r"pip install 'kcli-kafka\[json-schema\]'"):
        JsonValidator("{}")


def doubled(levels: int, last: Any) -> dict[str, Any]:
    """A schema that visits its last part 2 ** levels times."""
    parts = {f"d{n}": {"allOf": [{"$ref": f"#/definitions/d{n - 1}"}] * 2} for n in range(1, levels + 1)}
    return {"definitions": {"d0": last, **parts}, "$ref": f"#/definitions/d{levels}"}


TREE = {"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}]}
LIST = {"items": {"$ref": "#"}}


@pytest.mark.process
def test_a_check_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcli.serde.json_schema.child.SECONDS", 0.5)
    validator = JsonValidator(json.dumps(doubled(30, {"type": "integer"})))
    assert "is not of type" in (validator.problem("x") or ""), "the first violation is found at once"
    began = time.monotonic()
    for _ in range(20):
        with pytest.raises(TooSlow, match="takes more than"):
            validator.problem(5)
    assert time.monotonic() - began < GIVEN_UP * (0.5 + 3)


@pytest.mark.process
def test_a_process_that_is_not_run_for_a_while_is_not_slow() -> None:
    """On a busy machine, for longer than a check may take."""
    validator = JsonValidator(json.dumps(TREE))
    assert validator.problem({"a": 1}) is None
    child: Any = validator._child
    os.kill(child._process.pid, signal.SIGSTOP)
    threading.Timer(2.5, os.kill, (child._process.pid, signal.SIGCONT)).start()
    assert validator.problem({"a": 1}) is None


@pytest.mark.process
def test_the_interpreter_runs_on_meanwhile() -> None:
    """What heartbeats and Ctrl-C need."""
    ticks, done = [time.monotonic()], threading.Event()

    def tick() -> None:
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        with pytest.raises(TooSlow):
            JsonValidator(json.dumps(doubled(30, {"type": "integer"}))).problem(5)
    finally:
        done.set()
        thread.join()
    assert max(after - before for before, after in pairwise(ticks)) < 1.0


@pytest.mark.process
@each("schema", [doubled(3, {"type": "integer"}), doubled(14, {"type": "integer"}), TREE, LIST, {**TREE, "$id": "u:x"}])
def test_what_may_be_slow_has_the_same_answers(schema: Any) -> None:
    """Those of the library without a limit."""
    validator, library = JsonValidator(json.dumps(schema)), Library(json.dumps(schema))
    for value in (5, "x", {"a": {"a": {"a": 1}}}, {"a": {"a": "no"}}, [[[]], [5]], {}):
        said = validator.problem(value)
        assert (said is None) == (library.problem(value, every=False) is None)


@pytest.mark.process
def test_a_child_that_has_ended_takes_no_answer_from_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its listener may stand between the number of its pipe and the call that reads from it."""
    release, held = threading.Event(), threading.Event()
    listen = children._listen

    class Held:
        """A pipe from which, after the start and an answer, is read late."""

        def __init__(self, pipe: IO[bytes]) -> None:
            self.pipe, self.calls = pipe, 0

        def read(self, size: int) -> bytes:
            number = self.pipe.fileno()
            self.calls += 1
            if self.calls == 3:
                held.set()
                assert release.wait(10)
            return os.read(number, size)

        def __enter__(self) -> None:
            self.pipe.__enter__()

        def __exit__(self, *error: Any) -> None:
            self.pipe.close()

    monkeypatch.setattr(children, "_listen", lambda pipe, answers: listen(cast(IO[bytes], Held(pipe)), answers))
    first = JsonValidator(json.dumps(TREE))
    assert first.problem(5) is None
    assert held.wait(10)

    def later(pipe: IO[bytes], answers: Any) -> None:
        release.set()
        time.sleep(0.05)
        listen(pipe, answers)

    monkeypatch.setattr(children, "_listen", later)
    monkeypatch.setattr(children, "PATIENCE", 5.0)
    ended: Any = first._child
    ended._end()
    assert JsonValidator(json.dumps(TREE)).problem(5) is None


@pytest.mark.process
def test_a_child_that_is_killed_is_started_again() -> None:
    validator = JsonValidator(json.dumps(TREE))
    assert validator.problem({"a": 1}) is None
    child: Any = validator._child
    child._process.kill()
    with pytest.raises(TooSlow):
        validator.problem({"a": 1})
    assert validator.problem({"a": 1}) is None


@pytest.mark.process
def test_a_long_list_of_violations_costs_little_memory() -> None:
    code = (
        "import json, resource; from kcli.serde.json_schema.validate import JsonValidator;"
        "validator = JsonValidator(json.dumps({'items': {'type': 'string'}}));"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "print(validator.problem([1] * 1_000_000));"
        "assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000"
    )
    assert (
        b'1 is not of type "string"'
        in subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60).stdout
    )


@given(st.data())
@settings(max_examples=tries(60), deadline=None)
def test_the_number_of_visited_parts_is_that_of_all_references_followed(data: st.DataObject) -> None:
    """Drawn graphs of references without circles, counted one reference at a time."""
    parts: dict[str, Any] = {}
    for number in range(data.draw(st.integers(1, 9))):
        refs = data.draw(st.lists(st.integers(0, number - 1), max_size=3)) if number else []
        parts[f"p{number}"] = {"allOf": [{"$ref": f"parts.json#/p{one}"} for one in refs]}
    last = f"p{len(parts) - 1}"

    def count(name: str) -> int:
        return 1 + sum(1 + count(ref["$ref"].partition("#/")[2]) for ref in parts[name]["allOf"])

    library = Library(json.dumps({"$ref": f"parts.json#/{last}"}), [("parts.json", json.dumps(parts))])
    assert library.visited() == 1 + count(last)
