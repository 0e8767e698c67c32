"""Offsets of groups that are to change: old, new, and why not; worked out first, done after (cli.md 11).

What is wanted for a partition is said by a Form, any function of where the partition stands. What it wants is clamped
to the log, because a position outside of it leaves the choice to the consumer's reset policy.
"""

from __future__ import annotations

from kcli.errors import KcliError
from kcli.model import OffsetAndMetadata
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.model import TopicPartition


class Standing(Value):
    """A partition and a group: the bounds of the log, and what is committed (None: nothing)."""

    start: int = 0
    end: int = 0
    old: OffsetAndMetadata | None = None


class Wanted(Value):
    """What shall be committed; None is no commit at all. `note` goes into the row. With `keep` nothing shall change,
    with `exact` the log's bounds do not count. A `plain` offset says nothing about epoch and metadata: where that
    offset is committed already, they stay."""

    commit: OffsetAndMetadata | None = None
    note: str = ""
    keep: bool = False
    exact: bool = False
    plain: bool = True


class Change(Value):
    """One partition of a plan. `result` is would reset, would delete, unchanged, skipped, refused or failed; after
    execution reset, deleted, failed or unknown."""

    group: str = ""
    at: TopicPartition = None  # type: ignore[assignment]  # always given
    old: OffsetAndMetadata | None = None
    new: OffsetAndMetadata | None = None
    start: int | None = None
    end: int | None = None
    result: str = ""
    notes: list[str] = field(factory=list)
    error: KcliError | None = None

    @property
    def delta(self) -> int | None:
        """New minus old; None where one of them is no commit."""
        return self.new.offset - self.old.offset if self.new is not None and self.old is not None else None

    @property
    def open(self) -> bool:
        """Whether there is something to do."""
        return self.result in ("would reset", "would delete")


if TYPE_CHECKING:
    Form = Callable[[TopicPartition, Standing], Wanted | KcliError]
    """What is wanted for a partition, or why that cannot be said."""


def decide(group: str, at: TopicPartition, standing: Standing | KcliError, form: Form) -> Change:
    """The row of one partition: what the form wants, within the log."""
    if isinstance(standing, KcliError):
        return Change(group=group, at=at, result="failed", error=standing)
    change = Change(group=group, at=at, old=standing.old, new=standing.old, start=standing.start, end=standing.end)
    wanted = form(at, standing)
    if isinstance(wanted, KcliError):
        change.result, change.error = "failed", wanted
        return change
    if wanted.note:
        change.notes.append(wanted.note)
    change.result, change.new = _aim(standing, wanted, change.notes)
    return change


def _aim(standing: Standing, wanted: Wanted, notes: list[str]) -> tuple[str, OffsetAndMetadata | None]:
    """(result, what is to be committed)."""
    old = standing.old
    if wanted.keep:
        return "skipped", old
    if wanted.commit is None:
        return ("would delete" if old is not None else "unchanged"), None
    new = wanted.commit if wanted.exact else clamped(wanted.commit, standing, notes)
    if old is not None and old.offset == new.offset and (wanted.plain or old == new):
        return "unchanged", old
    return "would reset", new


def clamped(wanted: OffsetAndMetadata, standing: Standing, notes: list[str]) -> OffsetAndMetadata:
    """The same position, moved into the log if it is outside; `notes` gets the word. The epoch of a record that is not
    there any more is left out."""
    if wanted.offset < standing.start:
        notes.append(f"clamped: {wanted.offset} is before the log's start")
        return OffsetAndMetadata(offset=standing.start, metadata=wanted.metadata)
    if wanted.offset > standing.end:
        notes.append(f"clamped: {wanted.offset} is past the log's end")
        return OffsetAndMetadata(offset=standing.end, metadata=wanted.metadata)
    return wanted
