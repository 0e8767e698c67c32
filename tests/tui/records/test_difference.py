"""What differs between two records."""

from __future__ import annotations

from kcli.tui.dialogs.records import MOST, count, difference, of_records
from kcli.tui.screens.record import decoded
from kcli.tui.tail import Seen


def seen(value: bytes, offset: int, headers: tuple[tuple[str, bytes | None], ...] = ()) -> Seen:
    return Seen(0, "orders", 0, offset, 1_700_000_000_000, b"k", value, headers)


def test_lines_of_one_alone_have_a_sign() -> None:
    assert difference(["a", "b", "c"], ["a", "x", "c", "d"]) == ["  a", "- b", "+ x", "  c", "+ d"]


def test_places_headers_and_fields_that_differ_are_shown_and_others_stay() -> None:
    old = seen(b'{"id": 1, "state": "new"}', 5, (("trace", b"a\x1b"),))
    new = seen(b'{"id": 1, "state": "paid"}', 9, (("trace", None),))
    lines = of_records(old, new, decoded)
    assert '-   "state": "new"' in lines
    assert '+   "state": "paid"' in lines
    assert '    "id": 1,' in lines
    assert "  key    k" in lines
    assert "- header trace a\\x1b" in lines
    assert "+ header trace null" in lines
    assert count(lines) == 3, "the offset, the header and the state"


def test_of_large_values_the_beginning_is_compared_and_said() -> None:
    large = b"\n".join(b"%d" % n for n in range(MOST + 5))
    lines = of_records(seen(large, 1), seen(large, 1), decoded)
    assert "only the first" in lines[-1]
    assert len(lines) < MOST + 10
