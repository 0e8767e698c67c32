"""`n`: write one record and send it; the form stays open for the next one."""

from __future__ import annotations

from functools import partial
from json import JSONDecodeError
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.suggester import SuggestFromList
from textual.widgets import Checkbox, Input, Static, TextArea

from kcli.admin.topics.topics import Topic, describe_topics
from kcli.asking.leaders import TopicMissing
from kcli.errors import KcliError, UsageError
from kcli.tui.actions.producing import Draft, described, headers_of, named, no_json, partition_of
from kcli.tui.beat.leaving import CHANGES
from kcli.tui.dialogs.dialog import Dialog
from kcli.tui.records.editing import (
    LARGE,
    can_be_edited,
    in_lines,
    looks_like_json,
    on_one_line,
    tokens_of,
    wrong_json,
)
from kcli.tui.session import NO_REGISTRY
from kcli.tui.text.printable import Drawn, drawn, printable, suggestible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.client import Client
    from kcli.tui.actions.by_schema import FieldSchema, Own
    from kcli.tui.session import Session
    from kcli.tui.tail import Seen


TOKENS = {kind: f"area--{kind}" for kind in ("key", "string", "number", "word")}
AS_TEXT = "text"
"""What is typed to send a text in the place of JSON."""
MISSING = -1
"""The partitions of a topic that the cluster does not have."""
LOOKS = "its schema is looked up …"


class Tick(Checkbox):
    """A check box, `[x]` or `[ ]`, that can be seen without colours too."""

    @property
    def _button(self) -> Content:
        return Content("[x]" if self.value else "[ ]")


class Area(TextArea):
    """Lines to edit, of which nothing reaches the terminal that it would act on; with `json` in its colours, line by
    line, so that a wrong letter changes the colour of its token alone."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(TOKENS.values())
    json = False

    def get_line(self, line_index: int) -> Text:
        text = drawn(self.document.get_line(line_index))
        line = Text(text, end="", no_wrap=True)
        for kind, start, end in tokens_of(text) if self.json and len(text) < LARGE else ():
            line.stylize(self.get_component_rich_style(TOKENS[kind], partial=True), start, end)
        return line


class Locked(NamedTuple):
    """A key or value that cannot be edited, and is sent as it is stored; what is shown is fit for a screen."""

    data: bytes
    reason: str


class Produce(Dialog):
    """The form. A key or a value with text is no longer null. Fields are checked while one types. JSON that was on one
    line is edited in several, and is sent on one line again. What a schema has written is edited as JSON, and written
    by that schema again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "send", "Send", id="produce.send", priority=True),
        Binding("ctrl+e", "editor", "Edit in $EDITOR", id="produce.editor", priority=True),
        Binding("ctrl+l", "indent", "Indent JSON", id="produce.indent", priority=True),
        Binding("ctrl+r", "restore", "Last valid JSON", id="produce.restore", priority=True),
    ]
    offered_first = ("send", "dismiss", "editor")
    title_text = "Produce a record (ctrl+s sends it)"

    def __init__(
        self, session: Session, topic: str = "", draft: Draft | None = None, *, topics: Sequence[str] = ()
    ) -> None:
        """`topics` are the names that complete what is typed."""
        super().__init__(session)
        self._topic = topic
        self._topics = topics
        self._begins_with = draft
        self._partitions: dict[str, int] = {}  # of topics that were asked for
        self._schemas: dict[str, dict[str, FieldSchema]] = {}  # by topic and field, where a registry is configured
        self._wrong = ""  # the sentence about a field that is shown
        self._sent = 0
        self._sending = False
        self._like = ""  # JSON on one line, which is edited in several
        self._valid = ""  # the last text that was JSON
        self._own: dict[str, FieldSchema] = {}  # the schemas of the record that is edited
        self._locked: dict[str, Locked] = {}
        self._erased: dict[str, str] = {}  # texts that a tick at null took away
        self._headers: tuple[str, list[tuple[str, str | None]]] = ("", [])  # the text and what it means, at first
        self._last: Draft | None = None  # the record under edit, as it was sent last

    def fields(self) -> ComposeResult:
        with Horizontal(classes="line"):
            yield Static("topic *", classes="label")
            names = SuggestFromList(suggestible(self._topics), case_sensitive=True)
            yield Input(
                self._topic, placeholder="name of the topic; → completes it", suggester=names, id="topic", compact=True
            )
            yield Static("partition", classes="label")
            yield Input(placeholder="by key", id="partition", compact=True)
        with Horizontal(classes="line"):
            yield Static("key", classes="label")
            yield Input(placeholder="text", highlighter=Drawn(), id="key", compact=True)
            yield Tick("null", value=True, id="null-key", compact=True)
            yield Tick("by its schema", value=True, id="key-by-schema", compact=True)
        with Horizontal(classes="line"):
            yield Static("value", classes="label")
            yield Static("", id="kind", classes="hint", markup=False)
        yield Area(id="value", compact=True, show_line_numbers=False, tab_behavior="focus")
        with Horizontal(classes="line"):
            yield Tick("null (a tombstone)", id="null-value", compact=True)
            yield Tick("JSON, sent on one line", id="one-line", compact=True)
            yield Tick("by its schema", value=True, id="value-by-schema", compact=True)
        with Horizontal(classes="line"):
            yield Static("headers", classes="label")
            yield Static("NAME=VALUE, a line each; NAME= is empty, NAME alone is null", classes="hint", markup=False)
        yield Area(id="headers", compact=True, show_line_numbers=False, tab_behavior="focus")
        with Horizontal(classes="line", id="as-text"):
            yield Static(f"Type {printable(self._word)} to send it as a text:", id="ask", markup=False)
            yield Input(id="confirm", compact=True)

    @property
    def _word(self) -> str:
        return self.session.name if self.session.guard == "protected" else AS_TEXT

    def first_field(self) -> Input | TextArea:
        return self.query_one("#value", TextArea) if self._topic else self.query_one("#topic", Input)

    def on_mount(self) -> None:
        self.query_one("#as-text").display = False
        draft = self._begins_with
        if draft is not None:
            self.query_one("#partition", Input).value = "" if draft.partition is None else str(draft.partition)
            self.query_one("#key", Input).value = draft.key or ""
            self._edit(draft.value or "")
            self.query_one("#null-key", Checkbox).value = draft.key is None
            self.query_one("#null-value", Checkbox).value = draft.value is None
            for kind, text in (("key", draft.key), ("value", draft.value)):
                framed = (text or "").startswith(("\0", "\1"))
                self.query_one(f"#{kind}-by-schema", Checkbox).value = not framed
            rows = [name if value is None else f"{name}={value}" for name, value in draft.headers]
            area = self.query_one("#headers", TextArea)
            area.text = "\n".join(rows)
            self._headers = area.text, draft.headers
            self._begin_by_schema(draft.record)
        self._check()

    def _begin_by_schema(self, record: Seen | None) -> None:
        """What a schema has written is locked until the registry has said what it is."""
        for kind, data in named(record).items():
            self._lock(kind, locked=True)
            self._write(kind, printable(data.decode("utf-8", "surrogateescape")))
            self._keep(kind, Locked(data, LOOKS if self.session.has_registry else NO_REGISTRY))
        if self._locked and self.session.has_registry and record is not None:
            self._ask_own(record)

    def _keep(self, kind: str, locked: Locked) -> None:
        """Say why a key or value cannot be edited; that of the value is beside it."""
        self._locked[kind] = locked
        if kind == "key" and locked.reason != LOOKS:
            self.say(f"the key is sent as it is stored: {locked.reason}")

    def _lock(self, kind: str, *, locked: bool) -> None:
        if kind == "value":
            self.query_one("#value", TextArea).read_only = locked
        else:
            self.query_one("#key", Input).disabled = locked

    def _write(self, kind: str, text: str) -> None:
        if kind == "value":
            self._edit(text)
        else:
            self.query_one("#key", Input).value = text

    def _unlock(self, kind: str) -> None:
        if self._locked.pop(kind, None) is not None:
            self._lock(kind, locked=False)

    @work(group="own")
    async def _ask_own(self, record: Seen) -> None:
        """Edit as JSON what the registry decodes."""
        from kcli.tui.actions.by_schema import own_schemas

        fields = {kind: one.data for kind, one in self._locked.items()}
        try:
            found = await self.session.ask_registry(partial(own_schemas, fields, record.headers))
        except KcliError:
            return  # the session is closed
        if self.is_open:
            for kind in found.keys() & self._locked.keys():  # no more of those that are null by now
                self._begin_own(kind, found[kind])
            self._check()

    def _begin_own(self, kind: str, own: Own) -> None:
        """Edit a key or value by its own schema, or say why not."""
        if own.schema is None:
            self._keep(kind, self._locked[kind]._replace(reason=own.reason))
            return
        self._unlock(kind)
        self._own[kind] = own.schema
        self.query_one(f"#{kind}-by-schema", Checkbox).value = True
        self._write(kind, own.text)

    def _edit(self, value: str) -> None:
        """Begin with a value; JSON on one line is shown in several."""
        if can_be_edited(value):
            self._like, value = value, in_lines(value)
            self.query_one("#one-line", Checkbox).value = True
        self.query_one("#value", TextArea).text = value

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
        text |= {"value": self._value}
        stored = {kind: self._stored(kind, text[kind]) for kind in ("key", "value")}
        schemas = {kind: self._schema(kind) for kind in stored}  # by one that it does not fit it is refused there too
        specs = {kind: schema.spec for kind, schema in schemas.items() if schema is not None}
        options = "".join(f" --{kind}-schema {spec}" for kind, spec in specs.items() if spec)
        as_stored = [kind for kind, data in stored.items() if data is not None and not specs.get(kind)]
        text |= {kind: (stored[kind] or b"").decode("utf-8", "surrogateescape") for kind in as_stored}
        return Draft(
            topic=text["topic"].strip(),
            partition=partition_of(text["partition"]),
            key=None if null_key else text["key"],
            value=None if null_value else text["value"],
            headers=self._headers_now,
            stored=stored["value"],
            stored_key=stored["key"],
            option=self.session.registry_option + options if options else "",
        )

    @property
    def _value(self) -> str:
        """The value as it is sent."""
        text = self.query_one("#value", TextArea).text
        return on_one_line(text, self._like) if self._is_on_one_line and wrong_json(text) is None else text

    @property
    def _headers_now(self) -> list[tuple[str, str | None]]:
        """Those of the form; what is not changed stays as it was, byte for byte. Raises UsageError."""
        begun, headers = self._headers
        text = self.query_one("#headers", TextArea).text
        return headers if text == begun else headers_of(text)

    @property
    def _is_on_one_line(self) -> bool:
        """Whether the value is sent on one line, which JSON can be."""
        return self.query_one("#one-line", Checkbox).value and self._means_json

    @property
    def _means_json(self) -> bool:
        """Whether the value is an object or a list, was one before the last letters, or looks like one."""
        return looks_like_json(self.query_one("#value", TextArea).text) or bool(self._valid)

    def _schema(self, kind: str) -> FieldSchema | None:
        """What the key or the value is written by: its own schema, else that of its topic; None without one, and for a
        text or null."""
        if kind in self._locked:
            return None
        topic = self.query_one("#topic", Input).value.strip()
        found = self._own.get(kind) or self._schemas.get(topic, {}).get(kind)
        null = self.query_one(f"#null-{kind}", Checkbox).value
        return found if self.query_one(f"#{kind}-by-schema", Checkbox).value and not null else None

    def _stored(self, kind: str, text: str) -> bytes | None:
        """The bytes of a key or value by its schema, or as it was; None without, and where it does not fit."""
        if kind in self._locked:
            return self._locked[kind].data
        schema = self._schema(kind)
        return None if schema is None or schema.problem(text) else schema.stored(text)

    # -- what is wrong, while one types ---

    def problems(self) -> dict[str, str]:
        """By field, what is wrong with it; empty where the record can be sent."""
        found: dict[str, str] = {}
        topic = self.query_one("#topic", Input).value.strip()
        many = self._partitions.get(topic)
        if not topic:
            found["topic"] = "topic: a record needs one"
        elif many == MISSING:
            found["topic"] = f"topic {topic}: the cluster has no such topic"
        try:
            partition = partition_of(self.query_one("#partition", Input).value)
        except UsageError as problem:
            found["partition"] = str(problem)
        else:
            if partition is not None and many is not None and 0 <= many <= partition:
                found["partition"] = f"partition {partition}: {topic} has {many}, from 0 to {many - 1}"
        if broken := self._broken:
            found["value"] = f"value: {broken}"
        texts = {"key": self.query_one("#key", Input).value, "value": self._value}
        for kind, text in texts.items():
            schema = self._schema(kind)
            if schema is not None and (wrong := schema.problem(text)):
                found[kind] = f"{kind}, by {schema.name}: {wrong}"
        try:
            _ = self._headers_now
        except UsageError as problem:
            found["headers"] = str(problem)
        return found

    @property
    def _broken(self) -> str:
        """What is wrong with a value that is meant as JSON; "" where nothing is, and where a schema checks it."""
        text = self.query_one("#value", TextArea).text
        null = self.query_one("#null-value", Checkbox).value
        free = "value" not in self._locked and self._schema("value") is None and not null
        problem = wrong_json(text) if free and self._means_json else None
        return "" if problem is None else no_json(problem)

    def _check(self) -> None:
        """Mark the fields that are wrong, and say what the value is."""
        if not self.is_open or not self.query("#headers"):
            return
        topic = self.query_one("#topic", Input).value.strip()
        if topic and topic not in self._partitions:
            self._count(topic)
        if topic and topic not in self._schemas and self.session.has_registry:
            self._learn(topic)
        for kind in ("key", "value"):
            known = kind in self._own or kind in self._schemas.get(topic, {})
            self.query_one(f"#{kind}-by-schema").display = known and kind not in self._locked
        found = self.problems()
        for name in ("topic", "partition", "key", "headers"):
            self.query_one(f"#{name}").set_class(name in found, "wrong")
        about_value = found.pop("value", "").partition(": ")[2]
        wrong = next(iter(found.values()), "") if topic or self._sent else ""
        if wrong != self._wrong:  # else the line keeps what became of the record before
            self._wrong = wrong
            self.say(wrong, "bad")
        self.query_one("#kind", Static).update(printable(self._kind(about_value)))
        self.recommand()

    def _kind(self, wrong: str) -> str:
        """What the value is, or what is wrong with it."""
        if "value" in self._locked:
            self.query_one("#one-line").display = False
            return f"sent as it is stored: {self._locked['value'].reason}"
        schema = self._schema("value")
        text = self.query_one("#value", TextArea).text
        if not text and self._begins_with is None:
            self._valid = ""  # what is typed next may be anything
        json = self._means_json
        self.query_one("#one-line").display = json and schema is None and ("\n" in text or bool(self._like))
        area = self.query_one("#value", Area)
        area.json, area.show_line_numbers = json, json and "\n" in text
        if looks_like_json(text) and not wrong and wrong_json(text) is None:
            self._valid = text
        if wrong and text:
            return f"✖ {wrong}{' (ctrl+r restores the last valid value)' * bool(self._valid)}"
        if schema is not None:
            return schema.said(self._value)
        return described(None if self.query_one("#null-value", Checkbox).value else text)

    @work(exclusive=True, group="count")
    async def _count(self, topic: str) -> None:
        """How many partitions a topic has, and whether it is there."""

        async def asked(client: Client) -> Topic | KcliError | None:
            return (await describe_topics(client.cluster, [topic])).get(topic)

        try:
            answer = await self.session.ask(asked)
        except KcliError:
            return  # not known: sending says what is wrong
        if isinstance(answer, Topic):
            self._partitions[topic] = len(answer.partitions)
        elif isinstance(answer, TopicMissing):
            self._partitions[topic] = MISSING
        self._check()

    @work(group="learn")
    async def _learn(self, topic: str) -> None:
        """The schemas that the topic's keys and values have."""
        from kcli.tui.actions.by_schema import schemas_of

        self._schemas[topic] = {}  # asked for once
        try:
            self._schemas[topic] = await self.session.ask_registry(partial(schemas_of, topic))
        except KcliError:
            return  # the session is closed
        self._check()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "key" and event.value:
            self.query_one("#null-key", Checkbox).value = False
        self._check()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The word that sends a value as a text although it is no JSON."""
        if event.input.id != "confirm":
            return
        if event.value == self._word:
            self._begin()
        else:
            self.say(f"nothing was sent: {event.value!r} is not {self._word}", "bad")

    def _ask_as_text(self, why: str = "") -> None:
        """Ask for the word, or no longer: what is typed into the value is another value."""
        self.query_one("#as-text").display = bool(why)
        self.query_one("#confirm", Input).value = ""
        if why:
            self.say(f"nothing was sent: {why}. ctrl+r restores the last valid value" if self._valid else why, "bad")
            self.query_one("#confirm", Input).focus()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        if event.text_area.id == "value":
            self._ask_as_text()
            if event.text_area.text:
                self.query_one("#null-value", Checkbox).value = False
        self._check()

    def on_checkbox_changed(self, event: Checkbox.Changed) -> None:
        """What is null has no text; it has its text again when the tick is taken back."""
        key, value = self.query_one("#key", Input), self.query_one("#value", TextArea)
        kind, text = ("key", key.value) if event.checkbox.id == "null-key" else ("value", value.text)
        if event.checkbox.id in ("null-key", "null-value"):
            wanted = "" if event.value else text or self._erased.pop(kind, "")
            if event.value:
                self._erased[kind] = "" if kind in self._locked else text
                self._unlock(kind)
            if wanted != text:  # else the cursor would go back to the start of what is typed
                if kind == "key":
                    key.value = wanted
                else:
                    value.text = wanted
        self._check()

    def action_indent(self) -> None:
        """The value in several lines; what was on one line is sent so."""
        area = self.query_one("#value", TextArea)
        if not looks_like_json(area.text) or wrong_json(area.text) is not None:
            self.say("the value is not a JSON object or list", "bad")
            return
        if can_be_edited(area.text):
            self._like = area.text
            self.query_one("#one-line", Checkbox).value = True
        area.replace(in_lines(area.text), (0, 0), area.document.end)

    def action_editor(self) -> None:
        """Edit the value in the user's editor."""
        from kcli.tui.actions.programs import edited

        area = self.query_one("#value", TextArea)
        if area.read_only:
            self.say("the value cannot be edited: it is sent as it is stored", "bad")
            return
        try:
            area.text = edited(self.app, area.text, ".json" if self._means_json else ".txt")
        except KcliError as problem:
            self.say(str(problem), "bad")

    def action_restore(self) -> None:
        """The value as it was when it was valid last; ctrl+z takes this back."""
        area = self.query_one("#value", TextArea)
        if not self._valid:
            self.say("the value was no JSON yet", "bad")
        elif area.text != self._valid:
            area.replace(self._valid, (0, 0), area.document.end)
            area.focus()

    def _show_wrong(self, text: str) -> None:
        """Put the cursor where JSON breaks off."""
        problem = wrong_json(text)
        if isinstance(problem, JSONDecodeError):
            self.query_one("#value", TextArea).move_cursor((problem.lineno - 1, problem.colno - 1))

    def action_send(self) -> None:
        if self._sending:
            self.say("the previous record is still being sent: send this one when its outcome is known")
            return
        found = self.problems()
        if list(found) == ["value"] and self._broken:
            self._show_wrong(self.query_one("#value", TextArea).text)
            self._ask_as_text(self._broken)
        elif found:
            self.say(next(iter(found.values())), "bad")
            self.query_one(f"#{next(iter(found))}").focus()
        elif self._last is not None and self._draft() == self._last:
            self._last = None
            self.say("this record was already sent; press ctrl+s again to send it once more", "bad")
        else:
            self._begin()

    def _begin(self) -> None:
        self._ask_as_text()
        draft = self._draft()
        if self._begins_with is not None and self._begins_with.record is not None:
            self._last = draft
        self.say("sending …")
        self._sending = True
        self.app.run_worker(self._send(draft), group=CHANGES)  # to the end, whoever leaves meanwhile

    async def _send(self, draft: Draft) -> None:
        try:
            partition, offset = await self.session.change(draft.send)
        except KcliError as problem:
            self._last = None
            self.say(str(problem), "bad")
            return
        finally:
            self._sending = False
        self._sent += 1
        where = f"offset {offset}" if offset >= 0 else "an offset that the broker did not report"
        self.say(f"{self._sent} sent; the last one is in {printable(draft.topic)}[{partition}] at {where}", "good")
