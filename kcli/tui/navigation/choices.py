"""What `:` offers besides the places: the actions of the page in front, and other clusters, each with its key."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kcli.tui.messages import ChangeProfile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from textual.app import App

    from kcli.tui.screens.page import Page

HIDDEN = ("rows.", "app.palette", "app.command", "app.interrupt", "page.back")
"""Keys, by the beginning of their ids, that need no name: one moves by them."""
PLACE = re.compile(r"(?:app\.)?place\('(\w+)'\)")


class Choice(NamedTuple):
    """A line that is no place: `hint` says its key, `do` does it."""

    text: str
    hint: str
    do: Callable[[], object]


def choices(app: App[Any], page: Page, profiles: list[str]) -> list[Choice]:
    """What can be done with the row, what the keys of the page do, and the other clusters."""
    first = app.get_key_display(page.active_bindings["a"].binding) if "a" in page.active_bindings else "a"
    return [
        *(Choice(act.label, f"{first} {act.key}", partial(_begin, page, act)) for act in page.acts()),
        *_of_keys(app, page),
        *(Choice(f"profile {name}", "", partial(app.post_message, ChangeProfile(name))) for name in profiles),
    ]


def _begin(page: Page, act: Any) -> None:
    """Begin an act, unless nothing may be changed here: the page says why then."""
    if not (act.changes and page.refused("this")):
        act.do()


def _of_keys(app: App[Any], page: Page) -> Iterator[Choice]:
    for node, binding, enabled, _ in page.active_bindings.values():
        named = binding.id is not None and binding.description and not binding.id.startswith(HIDDEN)
        if named and enabled and not PLACE.match(binding.action):
            key = app.get_key_display(binding)
            yield Choice(binding.description, key, partial(app.run_action, binding.action, node))


def keys_of_places(app: App[Any], page: Page) -> dict[str, str]:
    """The keys that go to a place at once, by its word."""
    found = {}
    for _, binding, _, _ in page.active_bindings.values():
        match = PLACE.match(binding.action)
        if match is not None:
            found[match[1]] = app.get_key_display(binding)
    return found
