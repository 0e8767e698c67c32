"""The tour of `kcli demo`: five steps over live pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from kcli.lag.status import SEVERITY, STUCK
from kcli.model import TopicPartition
from kcli.tui import routes
from kcli.tui.widgets.footer import Footer

if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.lag.history import GroupStanding
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.routes import Route


class TourStep(NamedTuple):
    """A step of the tour: `place` finds its page in the newest snapshot."""

    title: str
    text: str
    place: Callable[[LagSnapshot | None], Route]


def worst(snapshot: LagSnapshot | None) -> GroupStanding | None:
    """The stuck group, else the group of the worst status; None while no group is known."""
    groups = snapshot.groups if snapshot is not None else ()
    stuck = [group for group in groups if group.status == STUCK]
    return max(stuck or groups, key=lambda group: SEVERITY.index(group.status), default=None)


def group_page(snapshot: LagSnapshot | None) -> Route:
    """The page of the worst group."""
    group = worst(snapshot)
    return routes.Group(group.described.group) if group is not None else routes.Groups()


def record_page(snapshot: LagSnapshot | None) -> Route:
    """The record that the worst group reads next, else the page of all topics."""
    group = worst(snapshot)
    parts = group.partitions if group is not None else ()
    part = max(parts, key=lambda part: SEVERITY.index(part.status), default=None)
    if group is None or part is None:
        return routes.Topics()
    sample = part.lag.sample
    at, committed = TopicPartition(sample.topic, sample.partition), sample.committed
    if committed is None:
        return routes.Topics()
    return routes.Records((at.topic,), around=(at, committed), next_of=group.described.group)


STEPS = (
    TourStep(
        "Groups, the worst first",
        "Each line is a consumer group: its status, how its lag went, when it will have caught up. Above are the\n"
        "incidents, below is the reason for the status of the group under the cursor. Groups appear while you look.",
        lambda snapshot: routes.Groups(),
    ),
    TourStep(
        "One group",
        "enter opens a group: its lag over time, its partitions, members, topics and events (1 to 4).\n"
        "enter on a partition opens its records.",
        group_page,
    ),
    TourStep(
        "The record a group is stuck on",
        "▶ next marks the record that the group reads next; enter shows it whole. / filters by words or by a\n"
        "condition such as value.total > 9, @ goes to a time, # to an offset, e sends a record again.",
        record_page,
    ),
    TourStep(
        "The heatmap",
        "Each cell is a partition: the darker, the more lag, rate, size or age (1 to 4). b shows it by broker.\n"
        "The line that begins with $ is the kcli command that shows the same; y copies it.",
        lambda snapshot: routes.Heatmap(),
    ),
    TourStep(
        "What can be done",
        "a lists what can be done with a row, with a plan first: r resets the offsets of a group.\n"
        ": goes anywhere by name, ? lists the keys of a page, escape goes back, q quits.",
        group_page,
    ),
)


class Tour(ModalScreen[int | None]):
    """One step, at the bottom of the page that it is about. The answer is the step that is wanted next; None ends."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,right", "step(1)", "Next", id="tour.next"),
        Binding("left", "step(-1)", "Before", id="tour.before"),
        Binding("escape", "dismiss(None)", "End the tour", id="tour.close"),
        Binding("q", "app.quit", "Quit", id="tour.quit"),
    ]

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def compose(self) -> ComposeResult:
        step = STEPS[self.number]
        with Vertical(classes="dialog"):
            yield Static(f"Tour {self.number + 1} of {len(STEPS)}: {step.title}", classes="title", markup=False)
            yield Static(step.text, markup=False)
        yield Footer()

    def action_step(self, by: int) -> None:
        wanted = self.number + by
        if wanted >= 0:
            self.dismiss(wanted if wanted < len(STEPS) else None)
