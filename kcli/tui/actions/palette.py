"""ctrl+p: everything by name: places, what the keys of this screen do, themes, profiles."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from kcli.tui.messages import ChangeProfile, Go
from kcli.tui.routes import find
from kcli.tui.screens.page import Page
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual.fuzzy import Matcher

    from kcli.tui.state import State

SHOWN = 200  # places that are offered before anything is typed


class Entry(NamedTuple):
    """A line of the palette."""

    text: str
    help: str
    do: Callable[[], object]


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
            yield DiscoveryHit(Content(entry.text), entry.do, text=entry.text, help=entry.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in self.entries():
            score = matcher.match(entry.text)
            if score > 0:
                yield Hit(score, _marked(matcher, entry.text), entry.do, text=entry.text, help=entry.help)


def _marked(matcher: Matcher, text: str) -> Content:
    """The text with what matches marked. Textual's own `highlight` would read a name such as `[red]` as markup."""
    content = Content(text)
    for place in matcher.fuzzy_search.match(matcher.query, text)[1]:
        content = content.stylize(matcher.match_style, place, place + 1)
    return content


class Actions(Entries):
    """What the keys do here; a mouse or a name does it too."""

    def entries(self) -> Iterator[Entry]:
        for node, binding, enabled, _ in self.screen.active_bindings.values():
            if binding.id is None or not binding.description or not enabled or binding.id == "app.palette":
                continue
            if binding.id.startswith("rows."):
                continue
            key = self.app.get_key_display(binding)
            yield Entry(binding.description, f"key {key}", partial(self.app.run_action, binding.action, node))


class Places(Entries):
    """Where one can go."""

    def entries(self) -> Iterator[Entry]:
        for name in self.state.places:
            route = find(name)
            if route is not None:
                yield Entry(f"Go to {printable(name)}", "", partial(self.app.post_message, Go(route, jump=True)))


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
