"""What is beside the list of topics on a wide screen: the topic under the cursor, and the groups that read it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.lag.history import topics_of
from kcli.lag.status import SEVERITY
from kcli.text.numbers import count, rate, size
from kcli.tui import routes
from kcli.tui.screens.page import Page
from kcli.tui.text.incidents import Line, Word, group_lines
from kcli.tui.text.printable import printable, quoted
from kcli.tui.widgets.lines import Lines
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kcli.admin.topics.stats import TopicStats
    from kcli.lag.history import GroupStanding
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.text.formatting import Kept

LABEL = 8  # cells


class Readers:
    """The groups of a snapshot by topic: made once of each snapshot, for a cursor that goes through thousands."""

    def __init__(self, groups: Iterable[GroupStanding]) -> None:
        self._of: dict[str, list[GroupStanding]] = {}
        for group in groups:
            for topic in {part.lag.sample.topic for part in group.partitions}:
                self._of.setdefault(topic, []).append(group)

    def of(self, topic: str) -> list[GroupStanding]:
        """The groups of a topic as they are with it, the worst first."""
        here = [standing for group in self._of.get(topic, ()) for standing in topics_of(group, topic)]
        return sorted(here, key=lambda one: (-SEVERITY.index(one.status), -(one.total.lag or 0)))


def fact(label: str, text: str, tone: str = "") -> Line:
    """A line with a label; the text is of the cluster."""
    return Line([Word(f"{label:<{LABEL}}", "dim"), Word(printable(text), tone)])


def topic_lines(
    row: TopicStats, kept: Kept, written: str, readers: Sequence[GroupStanding], aimed: Callable[[str], str]
) -> list[Line]:
    """A topic: its health, size, rate, how long it keeps records, its overrides, its groups. `written` is how long ago
    the last write was; `aimed` makes a command one of this cluster."""
    topic = row.topic
    partitions = f"{len(topic.partitions)} partitions × {topic.replication_factor} replicas"
    lines = [
        Line([Word(printable(topic.topic), "name")]),
        fact("health", f"✖ {row.problem}" if row.problem else "● in sync", "bad" if row.problem else "good"),
        fact("size", f"{partitions}   {size(row.size)}   {count(row.records)} offsets"),
        fact("writes", f"{rate(row.rate)}/s   last {written}"),
        fact("keeps", " ".join(filter(None, (kept.policy, kept.retention)))),
    ]
    lines += [fact("set" if not n else "", text) for n, text in enumerate(kept.others.split())]
    lines += [fact("", f"$ {aimed(f'kcli topics describe {quoted(topic.topic)}')}", "dim")]
    return lines + group_lines("GROUPS", readers)


class WithPane(Page):
    """A kind of list says what is in its pane, `Lines` with the id `about`."""

    def _about(self) -> None:
        """Fill the pane, where there is room for one."""
        raise NotImplementedError

    def show_snapshot(self, snapshot: LagSnapshot) -> None:
        self._about()

    def on_rows_moved(self, event: Rows.Moved) -> None:
        self._about()

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        """A click on a group of the pane opens it."""
        self.go(routes.Group(event.key))

    def on_resize(self) -> None:
        self.call_after_refresh(self._about)
