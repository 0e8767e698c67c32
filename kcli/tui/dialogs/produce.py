"""`n`: write one record and send it; the form stays open for the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Checkbox, Input, Static, TextArea

from kcli.errors import KcliError, UsageError
from kcli.tui.actions.producing import Draft, headers_of, partition_of
from kcli.tui.dialogs.dialog import Dialog
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from kcli.tui.session import Session


class Tick(Checkbox):
    """A check box that shows what it is without colours too."""

    def render(self) -> Content:
        self.BUTTON_INNER = "X" if self.value else " "
        return super().render()


class Produce(Dialog):
    """The form."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "send", "Send", id="produce.send", priority=True)]
    title_text = "Produce a record (ctrl+s sends it)"

    def __init__(self, session: Session, topic: str = "") -> None:
        super().__init__(session)
        self._topic = topic
        self._sent = 0
        self._sending = False

    def fields(self) -> ComposeResult:
        with Horizontal(classes="line"):
            yield Static("topic", classes="label")
            yield Input(self._topic, placeholder="which topic", id="topic", compact=True)
            yield Static("partition", classes="label")
            yield Input(placeholder="by key", id="partition", compact=True)
        with Horizontal(classes="line"):
            yield Static("key", classes="label")
            yield Input(id="key", compact=True, disabled=True)
            yield Tick("null", value=True, id="null-key", compact=True)
        with Horizontal(classes="line"):
            yield Static("value", classes="label")
            yield Tick("null (a tombstone)", id="null-value", compact=True)
        yield TextArea(id="value", compact=True, show_line_numbers=False, tab_behavior="focus")
        with Horizontal(classes="line"):
            yield Static("headers", classes="label")
            yield Static("NAME=VALUE, a line each; NAME= is empty, NAME alone is null", classes="hint", markup=False)
        yield TextArea(id="headers", compact=True, show_line_numbers=False, tab_behavior="focus")

    def on_mount(self) -> None:
        self.query_one("#value" if self._topic else "#topic").focus()

    @property
    def command(self) -> str:
        if not self.query("#headers"):
            return Draft(topic=self._topic).command
        try:
            return self._draft().command
        except UsageError as problem:
            return f"({problem})"

    def _draft(self) -> Draft:
        """What the form says. Raises UsageError."""
        text = {name: self.query_one(f"#{name}", Input).value for name in ("topic", "partition", "key")}
        null_key, null_value = (self.query_one(f"#null-{one}", Checkbox).value for one in ("key", "value"))
        return Draft(
            topic=text["topic"].strip(),
            partition=partition_of(text["partition"]),
            key=None if null_key else text["key"],
            value=None if null_value else self.query_one("#value", TextArea).text,
            headers=headers_of(self.query_one("#headers", TextArea).text),
        )

    def on_input_changed(self) -> None:
        self.recommand()

    def on_text_area_changed(self) -> None:
        self.recommand()

    def on_checkbox_changed(self, event: Checkbox.Changed) -> None:
        """What is null cannot be written in."""
        if event.checkbox.id == "null-key":
            self.query_one("#key", Input).disabled = event.value
        else:
            self.query_one("#value", TextArea).disabled = event.value
        self.recommand()

    def action_send(self) -> None:
        if self._sending:
            return  # one after the other: it says itself what became of it
        try:
            draft = self._draft()
            if not draft.topic:
                raise UsageError("to which topic?")
        except UsageError as problem:
            self.say(str(problem), "bad")
            return
        self.say("sending …")
        self._sending = True
        self.app.run_worker(self._send(draft), group="send")  # to the end, whoever leaves meanwhile

    async def _send(self, draft: Draft) -> None:
        try:
            partition, offset = await self.session.change(draft.send)
        except KcliError as problem:
            self.say(str(problem), "bad")
            return
        finally:
            self._sending = False
        self._sent += 1
        where = f"offset {offset}" if offset >= 0 else "an offset that the broker did not report"
        self.say(f"{self._sent} sent; the last one is in {printable(draft.topic)}[{partition}] at {where}", "good")
