"""The filter of records: which words are a condition, what fits, and the fields that are offered."""

from __future__ import annotations

import pytest

from kcli.tui.records.fields import Condition, completed
from kcli.tui.tail import Seen


def seen(value: bytes | None, offset: int = 5, key: bytes | None = b"ann") -> Seen:
    return Seen(1, "orders", 2, offset, 1_700_000_000_000, key, value, ())


@pytest.mark.parametrize(
    ("words", "option", "fitting"),
    [
        ("", "", [b'{"total": 12}', b'{"total": 3}', b"text total", None]),
        ("total", " --grep total", [b'{"total": 12}', b'{"total": 3}', b"text total"]),
        ("value.total > 9", " --where 'value.total > 9'", [b'{"total": 12}']),
        ("not value.total > 9", " --where 'not value.total > 9'", [b'{"total": 3}', b"text total", None]),
        ("(value.total > 9)", " --where '(value.total > 9)'", [b'{"total": 12}']),
        ("partition == 2 and key == 'ann'", None, [b'{"total": 12}', b'{"total": 3}', b"text total", None]),
        ("offset in [6, 7]", " --where 'offset in [6, 7]'", []),
        ("total > 9", " --where 'value.total > 9'", [b'{"total": 12}']),
        ("not total > 9 and offset == 5", " --where 'not value.total > 9 and offset == 5'", None),
        ("user.id > 9 or name == 'a > b'", " --where 'value.user.id > 9 or value.name == '\"'\"'a > b'\"'\"''", None),
        ("startswith(total, 'x')", " --where 'startswith(value.total, '\"'\"'x'\"'\"')'", None),
        ("value", " --grep value", []),
        ("not in stock", " --grep 'not\\ in\\ stock'", []),
        ("values? of", " --grep 'values\\?\\ of'", []),
        ("'total\": 3'", " --grep 'total\":\\ 3'", [b'{"total": 3}']),
        ("~total.: 1?2", " --grep 'total.: 1?2'", [b'{"total": 12}']),
        ("~total|null", None, [b'{"total": 12}', b'{"total": 3}', b"text total"]),
    ],
)
def test_words_are_a_text_a_condition_or_a_regular_expression(
    words: str, option: str | None, fitting: list[bytes | None] | None
) -> None:
    condition = Condition(words)
    assert not condition.problem
    if option is not None:
        assert condition.option == option
    every = [b'{"total": 12}', b'{"total": 3}', b"text total", None]
    if fitting is not None:
        assert [value for value in every if condition.fits(seen(value))] == fitting


@pytest.mark.parametrize("words", ["value.total >", "total = 3", "user.id >", "~(unclosed", "value.total > 'x"])
def test_what_is_no_condition_yet_says_why_and_every_record_fits(words: str) -> None:
    condition = Condition(words)
    assert condition.problem
    assert not condition.option
    assert condition.fits(seen(None))


def test_a_field_that_values_have_is_completed() -> None:
    loaded = [
        seen(b'{"user": {"id": 1, "name": "x"}, "total": 2, "items": [{"sku": 1}]}'),
        seen(b"no JSON"),
        seen(None),
    ]
    assert completed("value.t", loaded) == "value.total"
    assert completed("value.user.n", loaded) == "value.user.name"
    assert completed("key == 'a' and value.us", loaded) == "key == 'a' and value.user"
    assert completed("value.items.s", loaded) is None
    assert completed("value.total", loaded) is None
    assert completed("value.total > 9", loaded) is None
    assert completed("tot", loaded) == "total"
    assert completed("key == 'a' and user.n", loaded) == "key == 'a' and user.name"
    assert completed("total", loaded) is None
