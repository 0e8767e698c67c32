"""One fault to order: a field for each of its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from kcli.tui.dialogs.dialog import Dialog
from kcli.tui.text.printable import named, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.tui.session import Session

    Tell = Callable[[str, dict[str, Any], Callable[[str], object]], object]

APIS = """
    Produce Fetch ListOffsets Metadata OffsetCommit OffsetFetch FindCoordinator JoinGroup Heartbeat SyncGroup
    LeaveGroup DescribeGroups ListGroups ApiVersions InitProducerId EndTxn ConsumerGroupHeartbeat DescribeConfigs
    CreateTopics
""".split()


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
