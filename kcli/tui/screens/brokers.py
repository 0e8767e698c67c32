"""The brokers: what each leads and stores, whether it answers, and how quickly."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import TabPane

from kcli.admin.cluster.brokers import BrokerRow, list_brokers
from kcli.admin.configs import Resource
from kcli.admin.storage import log_dirs
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.cluster.cluster import INTERNAL
from kcli.lag.status import SEVERITY
from kcli.text.numbers import DASH, count, size
from kcli.tui import routes
from kcli.tui.actions.menus import of_broker, of_config, of_partition
from kcli.tui.screens.page import Page
from kcli.tui.screens.topics.pane import WithPane, fact
from kcli.tui.text.formatting import bar
from kcli.tui.text.incidents import Line, Word, group_lines
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.configs import Configs, ask_configs
from kcli.tui.widgets.frames import Tabs
from kcli.tui.widgets.lines import Lines
from kcli.tui.widgets.overview import ClusterPlot
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.admin.configs import Config
    from kcli.admin.storage import LogDir
    from kcli.admin.topics.topics import Partition
    from kcli.client import Client
    from kcli.errors import KcliError
    from kcli.lag.history import GroupStanding
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State


class Brokers(WithPane):
    """All brokers of the cluster."""

    unrecorded = "brokers"

    def __init__(self, state: State, route: routes.Brokers) -> None:
        super().__init__(state, route)
        self._known: int | None = None

    @property
    def heading(self) -> str:
        return "Brokers" if self._known is None else f"Brokers ({self._known})"

    @property
    def same_as(self) -> str:
        return "kcli brokers"

    def body(self) -> ComposeResult:
        with Vertical(id="details"):
            yield ClusterPlot(self.state)
            yield Lines(id="about")
        yield Rows(
            _columns(), key=lambda r: r.node.id, order=lambda r: r.node.id, id="brokers", empty="No broker known."
        )

    async def fetch(self, client: Client) -> Any:
        return await list_brokers(client.cluster)

    def on_rows_entered(self, event: Rows.Entered) -> None:
        self.go(routes.Broker(event.row.node.id))

    @property
    def acts_about(self) -> str:
        row = self.query_one(Rows).row
        return "brokers" if row is None else f"broker {row.node.id}"

    def acts(self) -> list[Act]:
        row = self.query_one(Rows).row
        return [] if row is None else of_broker(self, row.node.id, others=(self._known or 0) > 1)

    def fetched(self, answer: list[BrokerRow]) -> None:
        self._known = len(answer)
        self.query_one(Rows).put(answer)
        self._about()
        self.retitle()

    def _about(self) -> None:
        """The pane is of the broker under the cursor, where there is room for one."""
        if not self.is_there or not self.has_class("-wide"):
            return
        row, snapshot = self.query_one(Rows).row, self.state.snapshot
        groups = (
            [group for group in snapshot.groups if group.described.coordinator == row.node.id]
            if (row is not None and snapshot is not None)
            else []
        )
        lines = broker_lines(row, groups, self.session.aimed) if row is not None else []
        self.query_one("#about", Lines).put(lines)


def broker_lines(row: BrokerRow, groups: list[GroupStanding], aimed: Callable[[str], str]) -> list[Line]:
    """A broker beside the list of all: whether it answers, what it has, and the groups that it coordinates;
    `aimed` makes a command one of this cluster."""
    answers, free = _answers(row), _free(row)
    what = ", ".join(filter(None, (f"Kafka {row.release}" if row.release else "", "controller" * row.controller)))
    groups = sorted(groups, key=lambda one: (-SEVERITY.index(one.status), -(one.total.lag or 0)))
    return [
        Line([Word(printable(f"broker {row.node.id}  {row.node.host}:{row.node.port}"), "name")]),
        fact("answers", answers.text, answers.tone),
        fact("is", what or DASH),
        fact("rack", row.node.rack or DASH),
        fact("has", f"{count(row.replicas)} replicas, leads {count(row.leads)}"),
        fact("behind", count(row.behind), "bad" if row.behind else ""),
        fact("disk", f"{size(row.size)}, free {free.text}", free.tone),
        fact("", f"$ {aimed(f'kcli configs get broker {row.node.id} --all')}", "dim"),
        *group_lines("COORDINATES", groups),
    ]


def _columns() -> list[Column]:
    return [
        Column("id", "ID", lambda r: r.node.id, right=True, letter="N", rank=0),
        Column(
            "address",
            "ADDRESS",
            lambda r: r.node.host,
            draw=lambda r: Cell(printable(f"{r.node.host}:{r.node.port}")),
            letter="A",
            rank=0,
            most=60,
        ),
        Column("up", "ANSWERS", lambda r: r.took, draw=_answers, right=True, letter="T", rank=0),
        Column("version", "KAFKA", lambda r: r.release or "", draw=lambda r: Cell(r.release or DASH), letter="V"),
        Column(
            "controller",
            "",
            lambda r: not r.controller,
            draw=lambda r: Cell("controller" if r.controller else ""),
            rank=2,
        ),
        Column("rack", "RACK", lambda r: r.node.rack, printable, letter="R", rank=3),
        Column("leads", "LEADS", lambda r: r.leads, count, right=True, letter="L"),
        Column("replicas", "REPLICAS", lambda r: r.replicas, count, right=True, letter="P", rank=2),
        Column(
            "behind",
            "BEHIND",
            lambda r: r.behind,
            draw=lambda r: Cell(count(r.behind), "bad" if r.behind else ""),
            right=True,
            letter="B",
        ),
        Column("size", "SIZE", lambda r: r.size, size, right=True, letter="S"),
        Column("free", "FREE", lambda r: r.usable, draw=_free, right=True, letter="F", rank=2),
    ]


def _answers(row: BrokerRow) -> Cell:
    if row.took is None:
        return Cell(printable(f"✖ {row.problem}"), "bad")
    return Cell(f"● {row.took * 1000:.1f} ms", "good")


def _free(row: BrokerRow) -> Cell:
    if row.usable is None or not row.total:
        return Cell(size(None), "dim")
    share = row.usable / row.total
    return Cell(f"{size(row.usable)} ({share:.0%})", "bad" if share < 0.1 else "")


class Here(NamedTuple):
    """A replica on this broker; its bytes and directory where it tells."""

    partition: Partition
    leads: bool
    behind: bool
    size: int | None
    directory: str


class Answer(NamedTuple):
    """All that is asked about a broker at once."""

    replicas: list[Here]
    places: list[LogDir]
    configs: list[Config] | KcliError


class Broker(Page):
    """The page of a broker."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "tab('replicas')", "Partitions", show=False, id="broker.replicas"),
        Binding("2", "tab('disks')", "Disks", show=False, id="broker.disks"),
        Binding("3", "tab('configs')", "Configs", show=False, id="broker.configs"),
    ]

    unrecorded = "brokers"

    def __init__(self, state: State, route: routes.Broker) -> None:
        super().__init__(state, route)
        self.broker = route.number
        self._said = ""

    @property
    def heading(self) -> str:
        return f"Broker {self.broker}{self._said}"

    @property
    def same_as(self) -> str:
        match self.tab:
            case "disks":
                return f"kcli logdirs list --broker {self.broker}"
            case "configs":
                return f"kcli configs get broker {self.broker} --all"
        return f"kcli logdirs replicas --broker {self.broker}{self.sorted_by('replicas')}"

    @property
    def resource(self) -> Resource:
        return Resource("broker", str(self.broker))

    def body(self) -> ComposeResult:
        with Tabs():
            with TabPane("Partitions", id="tab-replicas"):
                yield Rows(_replica_columns(), key=_place, order=_order, id="replicas", empty="It has no partitions.")
            with TabPane("Disks", id="tab-disks"):
                yield Rows(
                    _disk_columns(),
                    key=lambda d: d.directory,
                    order=lambda d: d.directory,
                    id="disks",
                    opens=False,
                    empty="It does not report its directories.",
                )
            with TabPane("Configs", id="tab-configs"):
                yield Configs()

    def on_mount(self) -> None:
        self.query_one("#replicas", Rows).focus()

    async def fetch(self, client: Client) -> Any:
        topics, (places, _), configs = await asyncio.gather(
            describe_topics(client.cluster, None, internal=True),
            log_dirs(client.cluster, brokers=[self.broker]),
            ask_configs(client, "broker", str(self.broker)),
        )
        described = [topic for topic in topics.values() if isinstance(topic, Topic)]
        return Answer(replicas_on(self.broker, described, places), places, configs)

    def fetched(self, answer: Answer) -> None:
        leads = sum(replica.leads for replica in answer.replicas)
        behind = sum(replica.behind for replica in answer.replicas)
        self._said = f"  leads {count(leads)} of its {count(len(answer.replicas))} partitions"
        self._said += f"  {count(behind)} behind" if behind else ""
        self.query_one("#replicas", Rows).put(answer.replicas)
        self.query_one("#disks", Rows).put(answer.places)
        self.query_one(Configs).put(answer.configs)
        self.retitle()

    @property
    def acts_about(self) -> str:
        row = self._row if self.tab == "replicas" else None
        at = "" if row is None else f"{printable(row.partition.topic)}[{row.partition.partition}] on "
        return f"{at}broker {self.broker}"

    @property
    def _row(self) -> Any:
        return self.query(f"#{self.tab}").first(Rows).row if self.tab else None

    def acts(self) -> list[Act]:
        row, at = self._row, self.resource
        if self.tab == "replicas" and row is not None:
            return of_partition(self, row.partition.topic, row.partition.partition)
        return [*of_config(self, at, row if self.tab == "configs" else None), *of_broker(self, self.broker)[1:]]

    def on_rows_entered(self, event: Rows.Entered) -> None:
        if event.rows.id == "replicas":
            self.go(routes.Topic(event.row.partition.topic))


def replicas_on(broker: int, topics: list[Topic], places: list[LogDir]) -> list[Here]:
    """What the metadata puts on this broker, with the sizes of its directories."""
    stored = {
        (replica.topic, replica.partition): replica
        for place in places
        for replica in place.replicas
        if not replica.future
    }
    rows = []
    for topic in topics:
        for partition in topic.partitions:
            if broker in partition.replicas:
                at = stored.get((topic.topic, partition.partition))
                rows.append(
                    Here(
                        partition,
                        partition.leader == broker,
                        broker not in partition.isr,
                        at.size if at else None,
                        at.directory if at else "",
                    )
                )
    return rows


def _place(row: Here) -> tuple[str, int]:
    return row.partition.topic, row.partition.partition


def _order(row: Here) -> tuple[bool, str, int]:
    """Kafka's own topics come last: they can be neither trimmed nor deleted."""
    return row.partition.topic in INTERNAL, *_place(row)


def _replica_columns() -> list[Column]:
    return [
        Column(
            "topic", "TOPIC", _place, draw=lambda h: Cell(printable(h.partition.topic)), letter="N", rank=0, name=True
        ),
        Column("partition", "P", lambda h: h.partition.partition, right=True, letter="P", rank=0),
        Column("role", "ROLE", lambda h: (h.behind, h.leads), draw=_role, letter="R", rank=0),
        Column("size", "SIZE", lambda h: h.size, size, right=True, letter="S", option="size"),
        Column(
            "replicas",
            "REPLICAS",
            lambda h: len(h.partition.replicas),
            draw=lambda h: Cell(" ".join(map(str, h.partition.replicas)), "dim"),
            rank=2,
        ),
        Column("directory", "DIRECTORY", lambda h: h.directory, printable, tone="dim", letter="D", rank=3),
    ]


def _role(row: Here) -> Cell:
    if row.behind:
        return Cell("✖ behind", "bad")
    return Cell("● leader", "good") if row.leads else Cell("○ follower")


def _disk_columns() -> list[Column]:
    return [
        Column("directory", "DIRECTORY", lambda d: d.directory, printable, letter="D", rank=0, wide=True),
        Column(
            "state",
            "STATE",
            lambda d: str(d.error or ""),
            draw=lambda d: (
                Cell(f"✖ {printable(str(d.error))}", "bad")
                if d.error
                else Cell("cordoned", "warn")
                if d.cordoned
                else Cell("● ok", "good")
            ),
            rank=0,
        ),
        Column("replicas", "REPLICAS", lambda d: len(d.replicas), count, right=True, letter="P"),
        Column("size", "SIZE", lambda d: d.size, size, right=True, letter="S", rank=0),
        Column(
            "usable",
            "FREE",
            lambda d: d.usable,
            draw=lambda d: Cell(size(d.usable if d.usable >= 0 else None)),
            right=True,
            letter="F",
        ),
        Column("used", "OF THE VOLUME", lambda d: d.total - d.usable, draw=_used, rank=2),
    ]


def _used(one: LogDir) -> Cell:
    """How full the volume is, whoever fills it."""
    if one.total <= 0 or one.usable < 0:
        return Cell(DASH, "dim")
    share = 1 - one.usable / one.total
    return Cell(bar(share), "bad" if share > 0.9 else "dim")
