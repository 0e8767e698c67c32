"""`python -m tests.tui.outages` goes through every screen and every dialog that there is."""

from __future__ import annotations

import pkgutil

from kcli.tui import dialogs
from kcli.tui.routes import Route, find
from tests.tui.outages import DIALOGS, SCREENS, WORDS

OF_KEYS = {"menu", "help", "produce", "reset", "reason"}
"""Dialogs that have a key of their own, by their module."""
OTHERS = {"change": {"delete"}, "configs": {"configs"}, "command": {"go"}, "records": {"seek", "column", "difference"}}
"""Other modules, each with dialogs of it."""
ELSEWHERE = {"dialog", "undo"}
"""The frame of dialogs, and one that needs a change to undo."""


def test_the_outages_are_tried_on_every_page_there_is() -> None:
    assert SCREENS.keys() == {route.__name__ for route in Route.__subclasses__()}
    assert all(find(place) is not None for place, _ in SCREENS.values())


def test_the_outages_are_tried_behind_every_dialog_there_is() -> None:
    modules = {module.name for module in pkgutil.iter_modules(dialogs.__path__)}
    assert modules == OF_KEYS | OTHERS.keys() | ELSEWHERE
    assert OF_KEYS.union(*OTHERS.values()) <= DIALOGS.keys()
    assert WORDS.keys() == SCREENS.keys() | DIALOGS.keys()
