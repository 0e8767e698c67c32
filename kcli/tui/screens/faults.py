"""Faults of a sandbox: all that can be injected, those still to happen, its brokers to kill and to start."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static, TabPane

from kcli.errors import KcliError
from kcli.sandbox.faults.control_client import NotASandbox, find, tell
from kcli.tui import routes
from kcli.tui.actions.acts import Act
from kcli.tui.dialogs.dialog import Dialog
from kcli.tui.screens.page import Page
from kcli.tui.text.printable import named, printable, quoted
from kcli.tui.widgets.columns import Cell, Column, nothing
from kcli.tui.widgets.frames import Tabs
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kcli.client import Client
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.session import Session
    from kcli.tui.state import State

    Tell = Callable[[str, dict[str, Any], Callable[[str], object]], object]

ELSEWHERE = (
    "This cluster is not a sandbox with fault injection.\n\n"
    "Start one in another terminal: kcli sandbox (without --no-control).\n"
    "Then open it with the address that it prints: kcli tui -b ADDRESS"
)
APIS = """
    Produce Fetch ListOffsets Metadata OffsetCommit OffsetFetch FindCoordinator JoinGroup Heartbeat SyncGroup
    LeaveGroup DescribeGroups ListGroups ApiVersions InitProducerId EndTxn ConsumerGroupHeartbeat DescribeConfigs
    CreateTopics
""".split()


class Faults(Page):
    """The page of a sandbox's faults; of another cluster it says that there are none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "tab('faults')", "Faults", show=False, id="faults.faults"),
        Binding("2", "tab('pending')", "Pending", show=False, id="faults.pending"),
        Binding("3", "tab('brokers')", "Brokers", show=False, id="faults.brokers"),
        Binding("c", "clear", "Clear all", id="faults.clear"),
        Binding("x", "stop", "Kill or start the broker", show=False, id="faults.broker"),
    ]

    unrecorded = "faults"

    asks = False

    def __init__(self, state: State, route: routes.Faults) -> None:
        super().__init__(state, route)
        self._address = ""
        self._about = "asking whether this is a sandbox …"
        self._pending = 0

    @property
    def heading(self) -> str:
        return f"Sandbox faults ({self._pending} to happen)" if self._address else f"Sandbox faults: {self._about}"

    @property
    def same_as(self) -> str:
        if self.tab == "pending" or not self.query("#faults"):
            return "kcli faults"
        if self.tab == "brokers":
            row = self.query_one("#brokers", Rows).row
            return "kcli faults" if row is None else f"kcli faults {'kill' if row['alive'] else 'start'} {row['id']}"
        row = self.query_one("#faults", Rows).row
        return f"kcli faults {row['name']}" if row is not None else "kcli faults"

    def body(self) -> ComposeResult:
        with Tabs():
            with TabPane("Faults", id="tab-faults"):
                yield Rows(_fault_columns(), key=lambda f: f["name"], id="faults", empty="No sandbox, no faults.")
                yield Static(id="whole-text", markup=False)
            with TabPane("Pending", id="tab-pending"):
                yield Rows(_pending_columns(), key=str, id="pending", empty="Nothing is to happen.", opens=False)
            with TabPane("Brokers", id="tab-brokers"):
                yield Rows(_broker_columns(), key=lambda b: b["id"], id="brokers", empty="No sandbox.")

    def on_mount(self) -> None:
        self.query_one("#faults", Rows).focus()

    async def fetch(self, client: Client) -> Any:
        if not self._address:
            try:
                self._address = await find(client.cluster)
            except NotASandbox:
                return None
        return await tell(self._address, "look")

    def fetched(self, answer: dict[str, Any] | None) -> None:
        if answer is None:
            self._about = "this cluster is not a sandbox"
            for table in self.query(Rows):
                table.empty = ELSEWHERE
                table.put([])
        else:
            self.query_one("#faults", Rows).put(answer["faults"])
            self.query_one("#pending", Rows).put(answer["pending"])
            self.query_one("#brokers", Rows).put(answer["brokers"])
            self._pending = len(answer["pending"])
            self.refresh_bindings()
        self.retitle()

    def show_snapshot(self, snapshot: LagSnapshot) -> None:
        """Snapshots are of groups."""

    def _beat(self) -> None:
        """The brokers may all be down, by our own doing: the control port answers all the same."""
        if self.is_current and self._address:
            self.inquire()

    # -- what one does here ---

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Another cluster has no faults to clear."""
        return bool(self._address) if action == "clear" else super().check_action(action, parameters)

    @property
    def acts_about(self) -> str:
        row = self._row
        if row is None:
            return "this sandbox"
        return f"fault {row['name']}" if "name" in row else f"broker {row['id']}"

    def acts(self) -> list[Act]:
        if not self._address:
            return []
        row, clear = self._row, clear_faults(self.action_clear)
        if row is None:
            return clear
        if "name" in row:
            return [*of_fault(row, partial(self._inject, row)), *clear]
        return [*of_sandbox_broker(row, partial(self._turn, row)), *clear]

    @property
    def _row(self) -> dict[str, Any] | None:
        """The fault or the broker under the cursor; None on the tab of what is to happen."""
        row: dict[str, Any] | None = None
        if self.tab in ("faults", "brokers"):
            row = self.query_one(f"#{self.tab}", Rows).row
        return row

    def _inject(self, fault: dict[str, Any]) -> None:
        self.app.push_screen(Fault(self.session, fault, self.tell))

    def on_rows_entered(self, event: Rows.Entered) -> None:
        if event.rows.id == "faults" and not self.refused("a fault"):
            self._inject(event.row)
        elif event.rows.id == "brokers":
            self.action_stop()

    def on_rows_moved(self, event: Rows.Moved) -> None:
        if self.is_there:
            self.retitle()
            self._show_text()

    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self._show_text)

    def _show_text(self) -> None:
        """Below a table that cuts texts, the whole one of the row under the cursor; the table keeps its height."""
        for line in self.query("#whole-text").results(Static):
            table = self.query_one("#faults", Rows)
            line.display = table.row is not None and table.has_cut("text")
            line.update("" if table.row is None else named(table.row["text"]))

    def action_clear(self) -> None:
        if self._address and not self.refused("a fault"):
            self.tell("clear", {}, lambda problem: self.notify(problem or "all faults cleared", markup=False))

    def action_stop(self) -> None:
        """Kill the broker under the cursor, or start it again."""
        row = self.query_one("#brokers", Rows).row
        if row is not None and self.tab == "brokers":
            self._turn(row)

    def _turn(self, row: dict[str, Any]) -> None:
        if self.refused("a fault"):
            return
        do, word = ("stop", "killed") if row["alive"] else ("start", "up again")
        sentence = f"broker {row['id']} is {word}"
        self.tell(do, {"broker": row["id"]}, lambda problem: self.notify(problem or sentence, markup=False))

    @work(group="tell")
    async def tell(self, do: str, facts: dict[str, Any], then: Any) -> None:
        """Have the sandbox do it; `then` gets "" or what was wrong."""

        async def told(_: Client) -> dict[str, Any]:
            return await tell(self._address, do, **facts)

        try:
            answer = await self.session.ask(told)
        except KcliError as problem:
            then(printable(str(problem)))
            return
        then("")
        if self.is_there:
            self.fetched(answer)


def _fault_columns() -> list[Column]:
    return [
        Column("name", "FAULT", lambda f: f["name"], letter="N", rank=0),
        Column(
            "needs",
            "NEEDS",
            lambda f: len(f["parameters"]),
            draw=lambda f: Cell(" ".join(p["name"] for p in f["parameters"] if p["needed"]), "dim"),
        ),
        Column("text", "WHAT HAPPENS", lambda f: f["text"], named, rank=0, wide=True, most=200),
    ]


def _pending_columns() -> list[Column]:
    return [
        Column("fault", "FAULT", lambda p: p["fault"], letter="N", rank=0),
        Column("api", "API", lambda p: p["api"], draw=lambda p: Cell(p["api"] or "any"), letter="A", rank=0),
        Column("what", "", lambda p: p["what"], printable),
        Column("where", "WHERE", _where, draw=lambda p: Cell(_where(p)), letter="W", wide=True),
        Column("times", "TIMES", lambda p: p["times"], _times, right=True, letter="T", rank=0),
    ]


def _where(row: dict[str, Any]) -> str:
    words = [] if row["broker"] is None else [f"broker {row['broker']}"]
    if row["topic"] is not None:
        words.append(row["topic"] + ("" if row["partition"] is None else f"[{row['partition']}]"))
    return printable(" ".join(words))


def _times(times: int | None) -> str:
    return "until cleared" if times is None or times > 1_000_000 else f"{times:,}"


def _broker_columns() -> list[Column]:
    return [
        Column("id", "ID", lambda b: b["id"], right=True, letter="N", rank=0),
        Column("port", "PORT", lambda b: b["port"], right=True, letter="P", rank=0),
        Column(
            "alive",
            "STATE",
            lambda b: b["alive"],
            draw=lambda b: Cell("● up", "good") if b["alive"] else Cell("✖ killed", "bad"),
            letter="S",
            rank=0,
        ),
        Column(
            "key",
            "ENTER",
            nothing,
            draw=lambda b: Cell("kills it" if b["alive"] else "starts it again", "dim"),
            wide=True,
        ),
    ]


def of_fault(fault: Mapping[str, Any], inject: Callable[[], object]) -> list[Act]:
    """With a fault of the catalogue; what it needs is asked for."""
    needed = "".join(f" {parameter['name']}=…" for parameter in fault["parameters"] if parameter["needed"])
    return [Act("o", f"Inject {fault['name']} …", f"kcli faults {fault['name']}{needed}", inject, changes=True)]


def of_sandbox_broker(broker: Mapping[str, Any], turn: Callable[[], object]) -> list[Act]:
    """With a broker: kill it, or start it again."""
    word, label = ("kill", "Kill") if broker["alive"] else ("start", "Start")
    return [Act("x", f"{label} broker {broker['id']}", f"kcli faults {word} {broker['id']}", turn, changes=True)]


def clear_faults(clear: Callable[[], object]) -> list[Act]:
    """All that are to happen, whatever row is under the cursor."""
    return [Act("c", "Clear all faults", "kcli faults clear", clear, changes=True)]


class Fault(Dialog):
    """`fault` is a row of the sandbox's catalogue; `tell` does it and calls back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "order", "Order it", id="fault.order", priority=True),
    ]

    def __init__(self, session: Session, fault: dict[str, Any], tell: Tell) -> None:
        super().__init__(session)
        self.fault = fault
        self.title_text = f"Fault {fault['name']} (enter orders it)"
        self._tell = tell

    def fields(self) -> ComposeResult:
        yield Static(named(self.fault["text"]), classes="hint", markup=False)
        with VerticalScroll():
            for parameter in self.fault["parameters"]:
                with Horizontal(classes="line"):
                    yield Static(parameter["name"], classes="label", markup=False)
                    needed = (
                        "needed"
                        if parameter["needed"]
                        else f"else {'any' if parameter['default'] is None else parameter['default']}"
                    )
                    apis = SuggestFromList(APIS, case_sensitive=False) if parameter["name"] == "api" else None
                    yield Input(
                        placeholder=f"{parameter['kind']}, {needed}",
                        id=f"p-{parameter['name']}",
                        compact=True,
                        suggester=apis,
                    )

    def first_field(self) -> Input | None:
        return self.query(Input).first() if self.fault["parameters"] else None

    @property
    def given(self) -> dict[str, str]:
        """What was written in."""
        fields = {parameter["name"]: self.query(f"#p-{parameter['name']}") for parameter in self.fault["parameters"]}
        values = {name: fields.first(Input).value.strip() for name, fields in fields.items() if fields}
        return {name: value for name, value in values.items() if value}

    @property
    def command(self) -> str:
        words = [f"{name}={quoted(value)}" for name, value in self.given.items()]
        return " ".join(["kcli faults", self.fault["name"], *words])

    def on_input_changed(self) -> None:
        self.recommand()

    def on_input_submitted(self) -> None:
        self.action_order()

    def action_order(self) -> None:
        facts = {"name": self.fault["name"], "given": self.given}
        self._tell("fault", facts, lambda problem: self.say(problem or "ordered", "bad" if problem else "good"))
