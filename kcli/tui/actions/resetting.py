"""What the reset dialog asks and does, without the dialog: a form, a scope, the plan, the change, the same command."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kcli.admin.groups.reset_plan import numbers_of
from kcli.asking.leaders import TopicMissing
from kcli.changes import offset_forms, offsets
from kcli.changes.offset_forms import by_time, now_ms, ready
from kcli.errors import KcliError, UsageError
from kcli.grammar.offsets import duration
from kcli.model import TopicPartition
from kcli.tui.actions.changes.change import Change, Plan, shown
from kcli.tui.actions.changes.several import title_of, word_of
from kcli.tui.text.printable import quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kcli.changes.offset_forms import Prepare
    from kcli.client import Client
    from kcli.model import Cluster
    from kcli.tui.actions.changes.change import Given


class Wish(NamedTuple):
    """What is wanted, understood: how to make the form, and the words of the command line that say the same."""

    prepare: Prepare
    words: str


FORMS = (
    ("earliest", "to the beginning", ""),
    ("latest", "to the end", ""),
    ("offset", "to offset", "an offset, such as 1200"),
    ("shift", "shift by", "how many records: 100 forward, -100 back"),
    ("time", "to a time", "2026-01-31T10:00 (here), …Z, epoch s or ms, -1h"),
    ("duration", "back by", "a duration, such as 90m or 1h30m"),
    ("place", "to the place", "stored, -100 before the end, +100 after the start, 0=5,1=end …"),
)
"""(name, label, what the field asks for; "" needs none)."""


def wish(form: str, text: str, now: int) -> Wish:
    """What a form and the text beside it mean; `now` is in ms since the epoch. Raises UsageError with what is wrong."""
    text = text.strip()
    if form in ("earliest", "latest"):
        return Wish(ready(offset_forms.earliest if form == "earliest" else offset_forms.latest), f"--to-{form}")
    if not text:
        raise UsageError(next(asks for name, _, asks in FORMS if name == form))
    if form in ("offset", "shift"):
        digits = text.removeprefix("-").removeprefix("+") if form == "shift" else text
        if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
            raise UsageError(f"expected a whole number, not {text!r}")
        number = int(text)
        if form == "offset":
            return Wish(ready(offset_forms.offset(number)), f"--to-offset {number}")
        return Wish(ready(offset_forms.shifted(number)), f"--shift-by {number}")
    if form == "duration":
        if (back := duration(text)) is None:
            raise UsageError(f"{text!r} is no duration; expected 90m, 1h30m or 2d")
        return Wish(by_time(now - back), f"--by-duration {text}")
    place = f"@{text.removeprefix('@')}" if form == "time" else text
    return Wish(offset_forms.place(place, now)[0], f"--to {quoted(place)}")


class Resetting(Change):
    """A reset of one group, or of several. `at` is the partition under the cursor, None without one: then only whole
    groups can be meant. The form has a `form`, the `amount` beside it, and a `scope`."""

    def __init__(self, groups: Sequence[str], at: TopicPartition | None) -> None:
        self.groups, self.at = tuple(groups), at
        self.word = word_of(self.groups, "group")
        self.title = title_of("Reset the offsets of", self.groups, "group")

    def command(self, given: Given) -> str:
        where = "--all-topics"
        if self.at is not None and given["scope"] != "group":
            name = self.at.topic if given["scope"] == "topic" else f"{self.at.topic}:{self.at.partition}"
            where = f"--topic {quoted(name)}"
        try:
            words = wish(given["form"], given["amount"], now_ms()).words
        except UsageError:
            words = "--to …"
        return f"kcli groups reset {' '.join(map(quoted, self.groups))} {where} {words} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        at, scope = self.at, given["scope"]
        prepare = wish(given["form"], given["amount"], now_ms()).prepare

        async def where(cluster: Cluster, committed: Collection[TopicPartition]) -> list[TopicPartition]:
            if at is not None and scope == "partition":
                return [at]
            whole = at is None or scope == "group"
            topics = {one.topic for one in committed} if at is None or whole else {at.topic}
            ats = set(committed) if whole else set()
            for topic in topics:
                numbers = await numbers_of(cluster, topic)
                if isinstance(numbers, TopicMissing) and whole:
                    continue  # what is committed of a topic that was deleted says so in its own row
                if isinstance(numbers, KcliError):
                    raise numbers
                ats.update(TopicPartition(topic, number) for number in numbers)
            return sorted(ats)

        return shown(await offsets.plan(client.cluster, self.groups, where, prepare, skip=True), idle=True)
