"""One record, whole: its value as JSON, text and bytes, its key, its headers, where and when it was written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import TabPane

from kcli.serde.decoded import value_of
from kcli.serde.shape import connect_schema, encoding, fields, framing, named_in
from kcli.tui import routes
from kcli.tui.actions.menus import of_record
from kcli.tui.records.fields import as_json
from kcli.tui.screens.page import Page
from kcli.tui.text.formatting import dated, moment
from kcli.tui.text.printable import cut, printable, quoted
from kcli.tui.widgets.columns import LEAST_NAME, Column, matcher
from kcli.tui.widgets.frames import Tabs
from kcli.tui.widgets.pager import INDENT, LINE, HexLines, Pager, indented
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.tui.actions.acts import Act
    from kcli.tui.state import State
    from kcli.tui.tail import Seen
    from kcli.tui.text.by_registry import Both, ByRegistry

MOST = 256 * 1024  # bytes that are shown of a value
LEAST_KEY = 12  # cells of a key in the heading
LARGE = 128 * 1024  # bytes of a larger value whose JSON is indented: 50 ms


class RecordView(Page):
    """The page of a record."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "tab('decoded')", "Decoded", show=False, id="record.decoded"),
        Binding("2", "tab('text')", "Text", show=False, id="record.text"),
        Binding("3", "tab('hex')", "Hex", show=False, id="record.hex"),
        Binding("4", "tab('headers')", "Headers", show=False, id="record.headers"),
        Binding("5", "tab('schema')", "Schema", show=False, id="record.schema"),
        Binding("minus", "fold(-1)", "Fold", id="record.fold", key_display="-"),
        Binding("plus,equals_sign", "fold(1)", "Unfold", show=False, id="record.unfold", key_display="+"),
        Binding("Y", "copy_value", "Copy value", show=False, id="record.copy_value"),
        Binding("enter", "subject", "Subject", id="record.subject"),
    ]

    asks = False

    def __init__(self, state: State, route: routes.Record) -> None:
        super().__init__(state, route)
        self.record = route.seen
        self._texts: dict[str, str] = {}
        self._words = ""  # of the filter
        self._level: int | None = None  # of JSON that is shown; None shows all
        self._found: ByRegistry | None = None
        self._key: ByRegistry | None = None

    @property
    def heading(self) -> str:
        record = self.record
        key = "null" if record.key is None else printable(record.key.decode("utf-8", "backslashreplace"))
        if self._key is not None and self._key.json is not None:
            key = printable(self._key.json.decode())
        named = f"  {self._found.name}" if self._found is not None and self._found.name else ""
        folds = f"  level {self._level} of {self._levels}" if self._level is not None else ""
        return titled(record, key, f"value {sized(record.value)}{named}{folds}", self.size.width - 2)

    @property
    def same_as(self) -> str:
        form = self.session.registry_option if self._found is not None and self._found.json is not None else " -J"
        return consumed(self.record, form)

    def body(self) -> ComposeResult:
        value = self.record.value
        with Tabs():
            yield self._pane("Decoded", decoded(value))
            yield self._pane("Text", text(value))
            yield TabPane("Hex", Pager(partial(hexadecimal, value), id="text-hex"), id="tab-hex")
            with TabPane(f"Headers ({len(self.record.headers)})", id="tab-headers"):
                yield Rows(
                    [
                        Column("name", "NAME", lambda h: h[0], printable, letter="N", rank=0),
                        Column("value", "VALUE", lambda h: h[1], text, rank=0, wide=True),
                    ],
                    key=id,
                    id="headers",
                    opens=False,
                    empty="No headers.",
                )
            yield self._pane("Schema", schema(self.record))

    def _pane(self, name: str, words: str) -> TabPane:
        """A tab of text that scrolls."""
        self._texts[name.lower()] = words
        json = name == "Decoded" and words[:1] in ("{", "[")
        shown = Pager(partial(words.split, "\n"), json=json, id=f"text-{name.lower()}")
        return TabPane(name, shown, id=f"tab-{name.lower()}")

    def filtered(self, words: str) -> None:
        """Of texts the lines that a filter wants; of the headers the rows."""
        super().filtered(words)
        self._words = words
        wanted = matcher(words)
        for name, whole in self._texts.items():
            lines = whole.split("\n")
            if name == "decoded" and wanted is None and self._level is not None:
                lines = folded(lines, self._level)
            self.query_one(f"#text-{name}", Pager).put(lines if wanted is None else list(filter(wanted, lines)))
        hex = hexadecimal(self.record.value)
        self.query_one("#text-hex", Pager).put(hex if wanted is None else list(filter(wanted, hex[: MOST // LINE])))

    @property
    def _levels(self) -> int:
        """How many levels the decoded value has; 0 for what is no JSON."""
        words = self._texts["decoded"]
        return deepest(words.split("\n")) if words[:1] in ("{", "[") else 0

    def action_fold(self, by: int) -> None:
        """Show a level less of the decoded value, or one more; one stays, and all is how it began."""
        levels = self._levels
        if levels < 2 or self.tab != "decoded":
            self.notify("Only the tab Decoded can fold, for values with several levels.", timeout=2, markup=False)
            return
        level = max((levels if self._level is None else self._level) + by, 1)
        self._level = level if level < levels else None
        self.filtered(self._words)
        self.retitle()

    def on_mount(self) -> None:
        self.query_one(Rows).put(self.record.headers)
        if self.session.has_registry and (self.record.value is not None or self.record.key is not None):
            from kcli.tui.text.by_registry import ask

            self.asking.once_registry(partial(ask, self.record), self.told)

    def told(self, both: Both) -> None:
        """What the registry's schemas make of the key and the value."""
        self._key, self._found = both
        found = both.value
        if found.json is not None:
            self._texts["decoded"] = pretty(json.loads(found.json))
            self.query_one("#text-decoded", Pager).json = True
        elif found.reason:
            self._texts["decoded"] = f"not decoded: {printable(found.reason)}\n\n{self._texts['decoded']}"
        self._texts["schema"] += "".join(f"\n\n{printable_lines(part)}" for part in schemas(both))
        self.filtered(self._words)
        self.retitle()
        self.refresh_bindings()

    def inquire(self) -> None:
        """A record does not change."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The subject can be opened once it is known."""
        if action == "subject" and (self._found is None or not self._found.subject):
            return False
        return super().check_action(action, parameters)

    @property
    def acts_about(self) -> str:
        return f"{self.record.topic}[{self.record.partition}] at {self.record.offset}"

    def as_shown(self, record: Seen) -> Seen:
        found = self._found
        return record if found is None or found.json is None else record._replace(value=found.json)

    def acts(self) -> list[Act]:
        return of_record(self, self.record, self.record.topic)[1:]  # it is shown whole

    def action_subject(self) -> None:
        assert self._found is not None
        self.go(routes.Subject(self._found.subject))

    def action_copy_value(self) -> None:
        self.app.copy_to_clipboard(text(self.record.value))
        self.notify("the value", title="Copied", markup=False)


def titled(record: Seen, key: str, about: str, room: int) -> str:
    """Where and when a record was written, its key, then the words about its value, in this number of cells. The key is
    cut in its middle; where that is not enough the time is shorter, then the topic."""
    topic, place = printable(record.topic), f"[{record.partition}] at {record.offset}"
    least = min(cell_len(topic), LEAST_NAME) + min(cell_len(key), LEAST_KEY)
    line = ""
    for when in times(record.timestamp):
        line = "  ".join(filter(None, (place, when, "key ")))
        if least + cell_len(line) + cell_len(about) + 2 <= room:
            break
    room -= cell_len(line) + cell_len(about) + 2
    key = cut(key, max(room - cell_len(topic), LEAST_KEY))
    return f"{cut(topic, max(room - cell_len(key), LEAST_NAME))}{line}{key}  {about}"


def times(timestamp: int) -> list[str]:
    """A timestamp as it is written in a heading, in shorter and shorter forms."""
    then = moment(timestamp)
    if then is None:
        return [f"timestamp {timestamp}" if timestamp >= 0 else ""]
    return [dated(then, "milliseconds"), dated(then), f"{then:%H:%M:%S %Z}", ""]


def consumed(record: Seen, form: str) -> str:
    """The command that reads this record; `form` are options of how it is printed."""
    return f"kcli consume {quoted(record.topic)} -p {record.partition} -o {record.offset} -c 1{form}"


def sized(data: bytes | None) -> str:
    """How large a key or a value is."""
    return "null" if data is None else f"{len(data):,} bytes"


def decoded(value: bytes | None) -> str:
    """What the value says, indented; its text when it says nothing more."""
    if value is None:
        return "null (a tombstone on a compacted topic)"
    if len(value) > MOST:
        return beginning(value)
    seen = value_of(value[framing(value).begins :])
    if isinstance(seen, str):
        return text(value)
    return pretty(seen)


def pretty(seen: object) -> str:
    """A value as indented JSON."""
    return printable_lines(as_json(seen, indent=2))


def beginning(value: bytes) -> str:
    """A large value: the beginning of JSON, indented, else of its text; the rest is in the other tabs."""
    begun = opening(value, LARGE)
    rest = f"… and {len(value) - LARGE:,} bytes more: the tab Hex has all of them"
    return "\n".join([*begun, "", rest]) if begun else text(value)


def opening(value: bytes, most: int) -> list[str]:
    """The first bytes of JSON as indented lines; none for another value."""
    begins = framing(value[:most]).begins
    begun = value[begins : begins + most].decode("utf-8", "ignore")
    return list(map(printable, indented(begun))) if begun.lstrip()[:1] in ("{", "[") else []


def schema(record: Seen) -> str:
    """How the value is written, the schema that it or its headers name, and the fields it shows."""
    value = record.value
    if value is None:
        return "null has no schema"
    if len(value) > MOST:
        return f"the value is larger than {MOST:,} bytes: too large to be gone through here"
    framed = framing(value)
    seen = value_of(value[framed.begins :])
    rows = [("written as", f"{framed.name}, then {encoding(value[framed.begins :])}".removeprefix(", then "))]
    rows += [("schema", framed.schema)] * bool(framed.schema)
    rows += [(name, "null" if value is None else text(value)) for name, value in named_in(record.headers)]
    declared = connect_schema(seen)
    lines = [f"{name:<12}{text}" for name, text in rows]
    if declared is not None:
        lines += [
            "",
            "declared beside the payload (Kafka Connect):",
            as_json(declared, indent=2),
        ]
        seen = seen["payload"]
    if isinstance(seen, (dict, list)):
        found = fields(seen)
        room = min(max((len(path) for path, _ in found), default=0), 60) + 2
        lines += ["", "fields of this value:", *(f"  {path:<{room}}{kind}" for path, kind in found)]
    elif not framed.schema:
        lines += ["", "It names no schema and has no fields."]
    return printable_lines("\n".join(lines))


def schemas(both: Both) -> list[str]:
    """What the registry knows of the schemas, in parts: of the value with its text and what changed, and of the key."""
    value, key = both.value, both.key
    parts = [value.changes, f"{value.name}:\n{value.text}" if value.text else ""]
    if key.json is not None:
        parts.append(f"the key, by {key.name or 'its schema'}:\n{key.json.decode()}")
    elif key.reason:
        parts.append(f"the key is not decoded: {key.reason}")
    return [part for part in (*parts, key.changes) if part]


def text(value: bytes | None) -> str:
    """The value as text; what a terminal would obey is spelled out."""
    if value is None:
        return "null"
    more = f"\n… and {len(value) - MOST:,} bytes more" if len(value) > MOST else ""
    return printable_lines(value[:MOST].decode("utf-8", "backslashreplace")) + more


def hexadecimal(value: bytes | None) -> Sequence[str]:
    """All of the value, sixteen bytes a line."""
    return ["null"] if value is None else HexLines(value)


def printable_lines(words: str) -> str:
    """Text of several lines, each fit for a terminal."""
    return "\n".join(printable(line) for line in words.split("\n"))


def deepest(lines: Sequence[str]) -> int:
    """How many levels there are: 1 for fields that are plain values."""
    return max((_level(line) for line in lines), default=0)


def folded(lines: Sequence[str], level: int) -> list[str]:
    """The lines of the first levels; an object or a list below them is one line with the number of its members."""
    shown: list[str] = []
    members = 0
    for line, after in pairwise([*lines, ""]):
        depth = _level(line)
        if depth < level or not line:
            shown.append(line)
            continue
        closes = line.lstrip()[:1] in ("}", "]")
        if depth > level:
            members += depth == level + 1 and not closes
            continue
        if closes:
            shown[-1] = f"{shown[-1]}… {members}{line.lstrip()}"
            continue
        members = 0
        shown.append(line)
        if _opens(line) and not after:  # the text ends within it
            shown[-1] += "…"
    return shown


def _opens(line: str) -> bool:
    return line.endswith(("{", "["))


def _level(line: str) -> int:
    """How deep a line is in."""
    return (len(line) - len(line.lstrip(" "))) // len(INDENT)
