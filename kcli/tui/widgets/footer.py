"""The last line: the keys that work here. One widget, because Textual's own makes one for each key, again at each move
of the focus: that was a third of what a page cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from textual.screen import Screen


class Offer(NamedTuple):
    """A key of the footer. `display` is how the key is written, `enabled` is false where it only rings the bell."""

    key: str
    display: str
    description: str
    enabled: bool

    def width(self, gap: int) -> int:
        """Cells, with a space before the key and after it, and `gap` of them at the end."""
        return cell_len(self.display) + cell_len(self.description) + 2 + gap


class Footer(ScrollView, can_focus=False):
    """The shown bindings of its screen, closer to one another where there is little room. A click presses the key; the
    wheel scrolls a line that is too long."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"footer--key", "footer--description", "footer--hover"}

    offers: reactive[tuple[Offer, ...]] = reactive(())
    hovered: reactive[Offer | None] = reactive(None)
    _gap = 1

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, screen: Screen[object]) -> None:
        if screen.app.app_focus:  # a window without focus keeps its footer
            self.call_after_refresh(self._read)

    def _read(self) -> None:
        """Take the bindings as they are now; of several for one action the first."""
        if not self.is_attached:  # the page was left before it was drawn
            return
        first: dict[str, Offer] = {}
        for node, binding, enabled, _ in self.screen.active_bindings.values():
            if binding.show:
                label = node.enters if isinstance(node, Rows) and binding.action == "enter" else binding.description
                offer = Offer(binding.key, self.app.get_key_display(binding), label, enabled)
                first.setdefault(binding.action, offer)
        order: tuple[str, ...] = getattr(self.screen, "offered_first", ())
        self.offers = tuple(first[one] for one in sorted(first, key=lambda one: (*order, one).index(one)))

    def watch_offers(self) -> None:
        self._measure()
        self.hovered = None

    def on_resize(self) -> None:
        self._measure()

    def _measure(self) -> None:
        """Keys are two blank cells apart, or one where they do not fit so."""
        self._gap = 1
        self._gap = int(self._length <= self.size.width)
        self.virtual_size = Size(self._length, 1)

    @property
    def _length(self) -> int:
        return sum(offer.width(self._gap) for offer in self.offers)

    def render_line(self, y: int) -> Strip:
        segments = [segment for offer in self.offers for segment in self._drawn(offer)]
        left, width = round(self.scroll_offset.x), self.size.width
        return Strip(segments).crop(left, left + width).extend_cell_length(width, self.rich_style)

    def _drawn(self, offer: Offer) -> tuple[Segment, Segment]:
        """A key and what it does, each in its own style on the ground of the line or of the mouse."""
        ground = self.get_component_rich_style("footer--hover") if offer is self.hovered else self.rich_style
        if not offer.enabled:
            ground += Style(dim=True)
        key, description = (
            ground + self.get_component_rich_style(f"footer--{part}", partial=True) for part in ("key", "description")
        )
        return Segment(f" {offer.display} ", key), Segment(offer.description + " " * self._gap, description)

    def _at(self, x: int) -> Offer | None:
        """The key at this cell of the line."""
        left = -round(self.scroll_offset.x)
        for offer in self.offers:
            if left <= x < left + offer.width(self._gap):
                return offer
            left += offer.width(self._gap)
        return None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.hovered = self._at(event.x)

    def on_leave(self) -> None:
        self.hovered = None

    def watch_hovered(self) -> None:
        self.set_class(self.hovered is not None, "-over")

    def on_mouse_down(self, event: events.MouseDown) -> None:
        offer = self._at(event.x)
        if offer is not None and offer.enabled:
            self.app.simulate_key(offer.key)
        elif offer is not None:
            self.app.bell()

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        if self.allow_horizontal_scroll and self._scroll_right_for_pointer(animate=True):
            event.stop()
            event.prevent_default()

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        if self.allow_horizontal_scroll and self._scroll_left_for_pointer(animate=True):
            event.stop()
            event.prevent_default()
