"""ctrl+p: everything by name: places, what the keys of this screen do, themes, profiles."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from kcli.tui.messages import ChangeProfile, Go
from kcli.tui.routes import find
from kcli.tui.screens.page import Page
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from textual.app import App
    from textual.fuzzy import Matcher
    from textual.screen import Screen

    from kcli.tui.state import State

ROOM = 44  # cells of a text, before its key
SHOWN = 200  # places that are offered before anything is typed
HIDDEN = ("rows.", "app.palette", "app.command", "app.interrupt", "page.back")
"""Keys, by the beginning of their ids, that need no name: one moves by them."""
PLACE = re.compile(r"(?:app\.)?place\('(\w+)'\)")


class Entry(NamedTuple):
    """A line of the palette: its text, its key, if it has one, and what it does."""

    text: str
    key: str
    do: Callable[[], object]

    def line(self, text: Content) -> Content:
        """The text, in which something may be marked, and at a column of its own the key."""
        gap = max(ROOM - cell_len(self.text), 0) + 2
        return Content.assemble(text, " " * gap, (self.key, "$text-muted")) if self.key else text


class Entries(Provider):
    """A kind says its `entries`; those that are `at_first` are listed before anything is typed."""

    at_first = True

    def entries(self) -> Iterator[Entry]:
        """All there are now."""
        yield from ()

    @property
    def state(self) -> State:
        """What the page in front reads; a dialog may be before it."""
        return next(page.state for page in reversed(self.app.screen_stack) if isinstance(page, Page))

    async def discover(self) -> Hits:
        for number, entry in enumerate(self.entries() if self.at_first else ()):
            if number >= SHOWN:
                break
            yield DiscoveryHit(entry.line(Content(entry.text)), entry.do, text=entry.text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in self.entries():
            score = matcher.match(entry.text)
            if score > 0:
                yield Hit(score, entry.line(_marked(matcher, entry.text)), entry.do, text=entry.text)


def _marked(matcher: Matcher, text: str) -> Content:
    """The text with what matches marked. Textual's own `highlight` would read a name such as `[red]` as markup."""
    content = Content(text)
    for place in matcher.fuzzy_search.match(matcher.query, text)[1]:
        content = content.stylize(matcher.match_style, place, place + 1)
    return content


class Actions(Entries):
    """What the keys do here; a mouse or a name does it too."""

    def entries(self) -> Iterator[Entry]:
        """Those of the page in front before those of all pages; of several keys of one action the first."""
        offered: dict[str, Entry] = {}
        bindings = [(node, one) for node, one, enabled, _ in self.screen.active_bindings.values() if enabled and one.id]
        for node, binding in sorted(bindings, key=lambda pair: str(pair[1].id).startswith(("page.", "app."))):
            named = binding.description and not str(binding.id).startswith(HIDDEN)
            if named and not PLACE.match(binding.action):
                key, do = self.app.get_key_display(binding), partial(self.app.run_action, binding.action, node)
                offered.setdefault(binding.action, Entry(binding.description, key, do))
        yield from offered.values()


class Places(Entries):
    """Where one can go."""

    def entries(self) -> Iterator[Entry]:
        keys = keys_of_places(self.app, self.screen)
        for name in self.state.places:
            route = find(name)
            if route is not None:
                yield Entry(
                    f"Go to {printable(name)}", keys.get(name, ""), partial(self.app.post_message, Go(route, jump=True))
                )


class Themes(Entries):
    """Its style: found by its name, and not in the list before anything is typed."""

    at_first = False

    def entries(self) -> Iterator[Entry]:
        for name in sorted(self.app.available_themes):
            yield Entry(f"Theme {name}", "", partial(setattr, self.app, "theme", name))


class Profiles(Entries):
    """The other clusters that have a name."""

    def entries(self) -> Iterator[Entry]:
        for name in self.state.profiles:
            if name != self.state.session.name:
                go = partial(self.app.post_message, ChangeProfile(name))
                yield Entry(f"Profile {printable(name)}", "another cluster", go)


class Everything(Provider):
    """All of them in one order, what can be done first: Textual lists providers in the order of their answers."""

    @property
    def _kinds(self) -> list[Entries]:
        return [kind(self.screen, self.match_style) for kind in (Actions, Places, Profiles, Themes)]

    async def discover(self) -> Hits:
        for kind in self._kinds:
            async for hit in kind.discover():
                yield hit

    async def search(self, query: str) -> Hits:
        for kind in self._kinds:
            async for hit in kind.search(query):
                yield hit


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


def keys_of_places(app: App[Any], page: Screen[Any]) -> dict[str, str]:
    """The keys that go to a place at once, by its word."""
    found = {}
    for _, binding, _, _ in page.active_bindings.values():
        match = PLACE.match(binding.action)
        if match is not None:
            found[match[1]] = app.get_key_display(binding)
    return found
