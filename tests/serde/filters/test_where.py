"""`--where`: what a condition says, what it refuses and where, and that nothing typed is ever run."""

from __future__ import annotations

import pytest

from kcli.errors import UsageError
from kcli.serde.decoded import headers_of, key_of, value_of
from kcli.serde.filters.where import Where

VALUE = {
    "user": {"id": 42, "name": "Ann", "from": "x", "class": None, "a-b": 7},
    "items": [{"price": 1.5}, {"price": 9}],
    "on": True,
    "one": 1,
    "ü": "é",
    "__class__": "data",
}


def holds(text: str, value: object = VALUE, key: object = "k1", headers: object = None) -> bool:
    return bool(Where(text).test(key, value, {} if headers is None else headers, "orders", 3, 100, 1_700_000_000_000))


TRUE = """
value.user.id == 42
42 == value.user.id and key != "x"
value["user"]["a-b"] == 7
value.user.from == 'x'
value . user . from == 'x'
value.user.class == null and value.user.class is null
value.ü == "é" and value.user.name == "Ann"
value.items[0].price < value.items[-1].price
value.items[1].price * 2 - 1 == 17
value.items[1].price // 2 == 4 and value.items[1].price % 2 == 1 and value.items[1].price / 2 == 4.5
-value.one == -1 and - value.items[0].price < 0
value.on and value.on == true and not value.off
value.one == 1 and value.one == 1.0 and value.one != true and value.on != 1
1 < value.items[0].price <= 1.5 < 2
value.user.id in [1, 42] and 7 not in (1, 2)
true not in [1] and [1] in [[1], [2]]
"id" in value.user and "nn" in value.user.name and "z" not in value.user
startswith(value.user.name, "A") and value.user.name.endswith("nn")
contains(value.user.name, "nn") and value.user.name.lower() == "ann" and upper(value.user.name) == "ANN"
matches(value.user.name, "^A.n$") and not value.user.name.matches("^n")
len(value.items) == 2 and len(value.user.name) == 3
number("12") == 12 and number("1.5") == 1.5 and number("x") == null
topic == "orders" and partition == 3 and offset >= 100 and timestamp > 1_600_000_000_000
value.missing.deeper[3].still == null
value.missing != "x"
value.user.name == "=" or value.user.name != "&& || ! ="
value.items[*].price > 8 and value.items[*].price == 1.5 and not value.items[*].price > 9
value.items[*].missing == null and value.items[*].missing != "a"
value.items[*].price != 1.5 and 9 in value.items[*].price and value.items[*].price * 2 == 18
value.user.name =~ "^A.n$" and not value.user.name=~'x' and value.missing[*] == null and not value.items[*].x == 1
value.__class__ == "data"
value.user.__class__ == null and value.__class__.__mro__ == null
"""
FALSE = """
value.missing < 3
value.missing >= 3
value.user.name > 3
value.on > 0
value.missing == "x"
value.user.id + "1" == 43
value.user.id / 0 > 0
value.items["0"]
value.items[9]
value.items[true]
value.user[0]
startswith(value.user.id, "4")
len(value.one) == 1
null in value.items
9e300 * 9e300 < 0
"""


@pytest.mark.parametrize("text", TRUE.strip().splitlines())
def test_what_holds(text: str) -> None:
    assert holds(text)


@pytest.mark.parametrize("text", FALSE.strip().splitlines())
def test_data_is_never_an_error(text: str) -> None:
    assert not holds(text)


REFUSED = {
    "value.x = 3": "column 9: write == for =",
    "key && value": "column 5: write and for &&",
    "key || value": "column 5: write or for ||",
    "value @ 'x'": "column 7: write =~ for @",
    "value[1:2] == 3": "column 7: [ ] takes one index",
    "value =~ key": "column 10: the pattern of matches is a text",
    "!value": "column 1: write not for !",
    "  valu.x == 1": "column 3: unknown name valu; did you mean value?",
    "nothing": "column 1: unknown name nothing; known: key, value",
    "value.user-id == 3": "column 12: unknown name id",
    "value.x ==": "the condition ends too early",
    "value.x == == 3": "column 12: did not expect",
    "frob(key)": "column 1: unknown function frob; known: contains",
    "startswith(key)": "takes 2 arguments, not 1",
    'matches(key, "(")': "column 14: no regular expression",
    "matches(key, value)": "column 14: the pattern of matches is a text",
    "startswith(key, **value)": "no named arguments",
    "value[1:2]": "one index or name",
    "2 ** 99999999": "column 1: the arithmetic is",
    "1 << 999999999": "the arithmetic is",
    "~offset": "only - and not",
    "b'x' == key": "only texts, numbers",
    "1j == key": "only texts, numbers",
    "... == key": "only texts, numbers",
    "": "is empty",
    "key\n== 1": "one line",
    "key == 'a": "column 8: unterminated",
    "(key": "column 1: '(' was never closed",
}
ESCAPES = """
__import__("os").system("true")
().__class__.__bases__[0].__subclasses__()
(lambda: 1)()
[x for x in value]
{x for x in value}
f"{key}"
key if value else topic
(key := 1)
value.get("x")
value.items()
"{0.__class__}".format(key)
getattr(key, "x")
eval("1")
key.join(["a"])
*key
{**value}
{"a": 1}
lambda: 1
await key
yield key
print
_field
__builtins__
key[lambda: 1]
startswith(*[key, key])
startswith(**value)
(key)(value)
value["a"](1)
key; value
"""


@pytest.mark.parametrize("text", list(REFUSED))
def test_what_is_wrong_is_one_sentence_with_its_column(text: str) -> None:
    with pytest.raises(UsageError) as problem:
        Where(text)
    assert REFUSED[text] in str(problem.value)
    assert problem.value.exit_code == 2


@pytest.mark.parametrize("text", ESCAPES.strip().splitlines())
def test_nothing_typed_reaches_the_interpreter(text: str) -> None:
    with pytest.raises(UsageError):
        Where(text)


@pytest.mark.parametrize("deep", ["(" * 500 + "1" + ")" * 500, "not " * 4000 + "1", "value" + ".a" * 4000, "1" * 9000])
def test_a_condition_too_deep_or_too_long_is_refused(deep: str) -> None:
    with pytest.raises(UsageError):
        Where(deep)
    with pytest.raises(UsageError, match="the most is"):
        Where("key == '" + "x" * 10_000 + "'")


def test_only_what_is_mentioned_is_decoded() -> None:
    assert Where("value.a and offset").names == {"value", "offset"}
    assert Where("'value' == 'key'").names == set()


@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (None, None),
        (b"", ""),
        (b'{"a":1}', {"a": 1}),
        (b' {"a":1}\r\n', {"a": 1}),
        (b"42", 42),
        (b"42 43", "42 43"),
        (b" 42 x", " 42 x"),
        (b"NaN", "NaN"),
        (b"hello", "hello"),
        (b"\xff", "\udcff"),
        (b"[" * 100_000, "[" * 100_000),
        (b" " + b"[" * 100_000, " " + "[" * 100_000),
    ],
)
def test_a_value_is_what_its_json_says_or_its_text(data: bytes | None, seen: object) -> None:
    assert value_of(data) == seen


def test_a_key_is_text_and_headers_are_the_last_of_a_name() -> None:
    assert key_of(b"42") == "42"
    assert key_of(b'{"id": 42}') == {"id": 42}
    assert key_of(None) is None
    assert headers_of([("a", b"1"), ("b", None), ("a", b"2")]) == {"a": "2", "b": None}
    assert holds('headers.a == "2" and headers["b"] == null and "b" in headers', headers={"a": "2", "b": None})


def test_values_nested_beyond_comparing_are_equal_to_nothing() -> None:
    from kcli.proto.columns import Record
    from kcli.serde.filters.filter import Filter

    deep = b'{"a":' * 700 + b"1" + b"}" * 700
    record = Record(0, 0, None, b'{"x":' + deep + b',"y":' + deep + b"}", ())
    assert Filter(where=[Where("value.x == value.y")]).record(record, "t", 0) in (True, False)
