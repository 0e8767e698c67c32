"""What the reset dialog asks and does, without the dialog: a form, a scope, the plan, the change, the same command."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kcli.admin.groups import reset_forms
from kcli.admin.groups.offset_files import SCHEMA, row
from kcli.admin.groups.reset import Change
from kcli.admin.groups.reset_plan import Target, execute, numbers_of, plan, targets
from kcli.asking.coordinators import Coordinators
from kcli.asking.leaders import TopicMissing
from kcli.changes.change import Undo
from kcli.client import Client
from kcli.errors import KcliError, UsageError
from kcli.grammar.offsets import TIMES, duration, read_time
from kcli.model import Cluster, TopicPartition
from kcli.tui.actions.changes.change import journaled
from kcli.tui.actions.changes.several import word_of
from kcli.tui.text.printable import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.admin.groups.reset import Form

    Prepare = Callable[[Cluster, list[TopicPartition]], Awaitable[Form]]


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
)
"""(name, label, what the field asks for; "" needs none)."""


def wish(form: str, text: str, now: int) -> Wish:
    """What a form and the text beside it mean; `now` is in ms since the epoch. Raises UsageError with what is wrong."""
    text = text.strip()
    if form == "earliest":
        return Wish(_ready(reset_forms.earliest), "--to-earliest")
    if form == "latest":
        return Wish(_ready(reset_forms.latest), "--to-latest")
    if form in ("offset", "shift"):
        digits = text.removeprefix("-").removeprefix("+") if form == "shift" else text
        if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
            raise UsageError(f"expected a whole number, not {text!r}" if text else "a number, please")
        number = int(text)
        if form == "offset":
            return Wish(_ready(reset_forms.offset(number)), f"--to-offset {number}")
        return Wish(_ready(reset_forms.shifted(number)), f"--shift-by {number}")
    if form == "time":
        moment = read_time(text.removeprefix("@"), now)
        if moment is None:
            raise UsageError(f"{text!r} is no time; expected {TIMES}" if text else "a time?")
        return Wish(_moment(moment), f"--to {quoted('@' + text.removeprefix('@'))}")
    back = duration(text)
    if back is None:
        raise UsageError(f"{text!r} is no duration; expected 90m, 1h30m or 2d" if text else "how long?")
    return Wish(_moment(now - back), f"--by-duration {text}")


def now_ms() -> int:
    return int(time.time() * 1000)


def _ready(form: Form) -> Prepare:
    async def prepare(cluster: Cluster, partitions: list[TopicPartition]) -> Form:
        return form

    return prepare


def _moment(moment: int) -> Prepare:
    return lambda cluster, partitions: reset_forms.at_time(cluster, partitions, moment)


class Resetting:
    """A reset of one group, or of several. `at` is the partition under the cursor, None without one: then only whole
    groups can be meant."""

    def __init__(self, groups: Sequence[str], at: TopicPartition | None) -> None:
        self.groups = tuple(groups)
        self.word = word_of(self.groups, "group")
        self.at = at

    def command(self, words: str, scope: str) -> str:
        """The kcli command that does the same."""
        where = "--all-topics"
        if self.at is not None and scope != "group":
            name = self.at.topic if scope == "topic" else f"{self.at.topic}:{self.at.partition}"
            where = f"--topic {quoted(name)}"
        return f"kcli groups reset {' '.join(map(quoted, self.groups))} {where} {words} --execute"

    async def plan(self, client: Client, prepare: Prepare, scope: str) -> tuple[list[Target], list[Change]]:
        """The groups as they are now, and a row per partition. Raises KcliError."""
        cluster = client.cluster
        found = list((await targets(Coordinators(cluster), self.groups)).values())
        wanted = []
        for target in found:
            partitions = await self._partitions(cluster, target, scope)
            if partitions:
                wanted.append((target, partitions, await prepare(cluster, partitions)))
        if not wanted:
            raise found[0].refusal or KcliError(f"{self.word}: no offsets are committed")
        return found, await plan(cluster, wanted)

    async def _partitions(self, cluster: Cluster, target: Target, scope: str) -> list[TopicPartition]:
        if self.at is not None and scope == "partition":
            return [self.at]
        topics = (
            [self.at.topic] if self.at is not None and scope == "topic" else sorted({p.topic for p in target.commits})
        )
        ats: set[TopicPartition] = set() if scope == "topic" else set(target.committed)
        for topic in topics:
            numbers = await numbers_of(cluster, topic)
            if isinstance(numbers, TopicMissing) and scope == "group":
                continue  # what is committed of a topic that was deleted says so in its own row
            if isinstance(numbers, KcliError):
                raise numbers
            ats.update(TopicPartition(topic, number) for number in numbers)
        return sorted(ats)

    async def execute(self, client: Client, changes: list[Change], command: str) -> str:
        """Do what is open in the plan; the command that undoes it. Raises NotWritten before anything is sent, where the
        journal cannot be written; the outcome of each partition is in its row."""
        ready = [change for change in changes if change.open]
        was = [row(change.group, change.at, change.old) for change in ready]
        undo = Undo(document={"schema": SCHEMA, "ok": True, "offsets": was, "errors": []})
        work = partial(execute, Coordinators(client.cluster), ready)
        return await journaled(client, command, lambda: [_as_json(change) for change in changes], undo, work)


def _as_json(change: Change) -> dict[str, object]:
    """A row as `groups reset -J` prints it."""
    old, new = (None if commit is None else commit.offset for commit in (change.old, change.new))
    at = {"group": change.group, "topic": change.at.topic, "partition": change.at.partition}
    return {**at, "old": old, "new": new, "result": change.result}
