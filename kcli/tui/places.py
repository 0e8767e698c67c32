"""The places of the dashboard by name: what `:` and the palette offer, and the screen of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.screen import Screen

    from kcli.lag.watch import Look


def places(look: Look | None) -> list[str]:
    """What can be typed, for completion."""
    groups = [one.described.group for one in look.groups] if look is not None else []
    return ["groups", *(f"group {name}" for name in groups)]


def find(text: str) -> Screen[Any] | None:
    """The screen that a line names; None if there is none."""
    word, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if word == "groups" and not rest:
        from kcli.tui.screens.groups import Groups

        return Groups()
    if word == "group" and rest:
        from kcli.tui.screens.group import Group

        return Group(rest)
    return None
