"""A text that is drawn again in its place; messages stand above it, and the last one stays, whole."""

from __future__ import annotations

import io
import re
import sys

import pytest

from kcli.cli.output.refreshes import Screen
from kcli.cli.output.terminal import Terminal, terminal_of

UP = re.compile(r"\x1b\[(\d+)F\x1b\[J")


class Tty(io.StringIO):
    """A terminal that remembers its lines."""

    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """What stands on it."""
        shown: list[str] = []
        for part in re.split(r"(\x1b\[\d+F\x1b\[J)", re.sub(r"\x1b\[\?7[lh]", "", self.getvalue())):
            if up := UP.fullmatch(part):
                del shown[len(shown) - int(up[1]) :]
            else:
                shown += part.splitlines()
        return shown


def test_a_text_takes_the_place_of_the_last_one() -> None:
    out = Tty()
    with Screen(out) as screen:
        screen.show("a\nb\nc\n")
        screen.show("d\ne\n")
        assert out.lines() == ["d", "e"]
    assert out.lines() == ["d", "e"]


def test_a_low_terminal_shows_the_first_lines_and_all_of_them_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "4")
    out = Tty()
    with Screen(out) as screen:
        screen.show("1\n2\n3\n4\n5\n")
        assert out.lines() == ["1", "2", "3"]
        screen.show("6\n7\n8\n9\n10\n")
        assert out.lines() == ["6", "7", "8"]
    assert out.lines() == ["6", "7", "8", "9", "10"]


def test_messages_on_stderr_stand_above(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Tty()
    monkeypatch.setattr(sys, "stderr", out)
    with Screen(out) as screen:
        screen.show("table\n")
        sys.stderr.write("kcli: a broker went\n")
        screen.show("table 2\n")
    assert out.lines() == ["kcli: a broker went", "table 2"]
    assert sys.stderr is out


def test_a_terminal_says_its_size_and_whether_it_has_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"COLUMNS": "132", "LINES": "50", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert terminal_of(Tty()) == Terminal(width=132, height=50, color=True)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setenv("LINES", "many")
    assert terminal_of(Tty()) == Terminal(width=80, height=24, color=False)
    assert terminal_of(io.StringIO()) is None
