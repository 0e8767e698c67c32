"""YAML as kcli reads it: version 1.2, scalars as texts, every mistake a sentence with its line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from kcli.cli.documents.yaml_reader import load
from kcli.errors import UsageError


@pytest.fixture(params=["libyaml", "python"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both parsers of PyYAML."""
    assert yaml.__with_libyaml__
    monkeypatch.setattr(yaml, "__with_libyaml__", request.param == "libyaml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb:\n  - x\n  - y: 2\n    z: [p, 'q, r']\nc: {}\n",
         {"a": "1", "b": ["x", {"y": "2", "z": ["p", "q, r"]}], "c": {}}),
        ("---\n- a\n-\n  b: ~\n", ["a", {"b": None}]),
        ("k: |\n  one\n   two\n\n  three\nl: >-\n  a\n  b\n", {"k": "one\n two\n\nthree\n", "l": "a b"}),
        ('"q: x": "a\\tb\\u00e9" # c\n\'it\'\'s\': yes#no\n', {"q: x": "a\tbé", "it's": "yes#no"}),
        ("", None),
        ("# nothing\n", None),
        ("http://x:1", "http://x:1"),
        ("a:\n- 1\n- 2\nb: true", {"a": ["1", "2"], "b": True}),
        ("a: {b: 1, 'c d': [x, {e: }]} # f\ng: []", {"a": {"b": "1", "c d": ["x", {"e": None}]}, "g": []}),
        ('{\n "a": [\n  1, # one\n  true\n ],\n "b": "x # \\" y",\n "u": http://x:1\n}\n',
         {"a": ["1", True], "b": 'x # " y', "u": "http://x:1"}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        ('{\n\t"a":\t[1,\t2]\n}', {"a": ["1", "2"]}),
        ("a: one\n  text\n", {"a": "one text"}),
        ("- - a\n  - b\n", [["a", "b"]]),
        ("a: !!str true\nb: ! null", {"a": "true", "b": "null"}),
        ("a: {b}", {"a": {"b": None}}),
    ],
)  # fmt: skip
def test_YAML_and_JSON_are_maps_lists_and_texts(text: str, expected: object) -> None:
    assert load(text, "f") == expected


@pytest.mark.parametrize(
    "word",
    ["on", "off", "yes", "no", "y", "n", "On", "NO", "0123", "0o17", "0x1f", "1:30", "190:20:30", "1_000", "1e3", "12",
     "1.50", ".inf", ".NaN", "2026-01-01", "=", "tRUE", "nil"],
)  # fmt: skip
def test_what_is_a_text_in_YAML_1_2_or_a_number_stays_as_it_is_written(word: str) -> None:
    assert load(f"{word}: [{word}]", "f") == {word: [word]}


@pytest.mark.parametrize(
    ("words", "value"),
    [(("true", "True", "TRUE"), True), (("false", "False", "FALSE"), False), (("null", "Null", "NULL", "~"), None)],
)
def test_the_words_of_the_core_schema_are_values_unless_quoted_or_keys(words: tuple[str, ...], value: object) -> None:
    for word in words:
        assert load(f"a: {word}", "f") == {"a": value}
        assert load(f"{word}: '{word}'", "f") == {word: word}


def test_each_key_knows_its_line() -> None:
    document = load("a: 1\n\n'b':\n  - {c: 1,\n     d: 2}\n? e\n: f\n", "f")
    assert document.lines == {"a": 1, "b": 3, "e": 6}
    assert document["b"][0].lines == {"c": 4, "d": 5}


def test_aliases_and_merged_maps() -> None:
    text = "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\none:\n  y: 9\n  <<: *b\nboth:\n  <<: [*m, *b]\nsame: *b\n"
    document = load(text, "f")
    assert document["one"] == {"y": "9", "x": "1"}
    assert document["one"].lines == {"y": 4, "x": 1}
    assert document["both"] == {"y": "3", "z": "4", "x": "1"}
    assert document["same"] == {"x": "1", "y": "2"}
    assert load("&k a: 1\nb: *k", "f") == {"a": "1", "b": "a"}
    assert load("'<<': 1", "f") == {"<<": "1"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\na: 2", "f:2: a is in this map twice; remove one of them"),
        ("a:\n  - {b: 1,\n     'b': 2}", "f:3: b is in this map twice"),
        ("k: &k a\na: 1\n*k : 2", "f:3: a is in this map twice"),
        ("a: 1\n   b: 2", "f:2: unexpected key (check the indentation"),
        ("a: b: c", "f:1: unexpected key"),
        ("a:\n\tb: 1", "f:2: YAML is indented with spaces, not with tabs"),
        ("a: {b: 1", "f:1: this bracket is never closed"),
        ("\n\na: [1,\n2", "f:3: this bracket is never closed"),
        ("a: [1,\n2,", "f:2: a bracket above is never closed"),
        ("a: [1, 2\nb: 3", "f:2: expected , or ]"),
        ("a: [1] 2", "f:1: unexpected content (check the indentation)"),
        ("a: ]", "f:1: unexpected content"),
        ("a: - b", "f:1: unexpected content"),
        ("{a: 1} b", "f:1: unexpected content"),
        ('a: "\\ud83d"', "f:1: an unpaired surrogate"),
        ("a: ['x, y]\n\n", "f:1: this quotation mark is never closed"),
        ('a: "\\q"', "f:1: \\q is not a YAML escape; write \\\\ for a backslash"),
        ("a: @x", "f:1: a value that begins with @ needs quotation marks"),
        ("a: " + "[" * 100, "f:1: values are nested more than 40 deep"),
        ("- " * 100 + "a: 1", "f:1: values are nested more than 40 deep"),
        ("a: 1\nnonsense\nb: 2", "f:2: expected KEY: VALUE"),
        ("a: 1\n---\nb: 2", "f:2: a second document begins here; write one document per file"),
        ("a: 1\nb: !!set {x}", "f:2: the tag !!set is not supported; remove it"),
        ("a: 1\nb: !secret x", "f:2: the tag !secret is not supported"),
        ("a: !!int 1", "f:1: the tag !!int is not supported"),
        ("a: *x", "f:1: *x has no anchor &x above it"),
        ("a: &x [*x]", "f:1: *x has no anchor &x above it"),
        ("a: {<<: 1}", "f:1: << merges maps"),
        ("? [a]\n: 1", "f:1: a key must be a string"),
        ("a: &x [1]\n*x : 1", "f:2: a key must be a string"),
        ("a: 1\nb: 'x\u2028y'", "f:2: the character U+2028 is not allowed in YAML"),
        ("a: 1\nb: \x01", "f:2: the character U+0001 is not allowed in YAML; escape it"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_its_line(text: str, says: str) -> None:
    with pytest.raises(UsageError) as raised:
        load(text, "f")
    assert str(raised.value).startswith(says)
    assert "\n" not in str(raised.value)


def test_a_thousand_aliases_are_read_and_no_more() -> None:
    text = "a: &a x\nb:\n" + "- *a\n" * 1000
    assert load(text, "f")["b"] == ["x"] * 1000
    with pytest.raises(UsageError, match=r"^f:1003: more than 1,000 aliases; write the values out"):
        load(text + "- *a\n", "f")


def test_aliases_of_aliases_cannot_make_a_small_file_huge() -> None:
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    text += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))
    with pytest.raises(UsageError, match=r"^f:6: aliases stand for more than 100,000 values"):
        load(text, "f")


JSON = st.recursive(
    st.booleans() | st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc:# \"'", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.sampled_from([None, 2, "\t"]), st.booleans())
@example(["\x7f\x85\u2028"], None, False)
def test_JSON_is_read_as_json_reads_it(document: object, indent: int | str | None, ascii: bool) -> None:
    for with_libyaml in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(yaml, "__with_libyaml__", with_libyaml)
            assert load(json.dumps(document, indent=indent, ensure_ascii=ascii), "f") == document


@pytest.mark.process
def test_only_what_reads_YAML_imports_it() -> None:
    code = "import sys, kcli.cli.commands.apply.files, kcli.cli.documents.toml_reader; "
    code += "import kcli.cli.commands.config.importing.foreign; "
    code += "print('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
