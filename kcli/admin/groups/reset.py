"""Changes of a group's offsets: old, new, and the reason if there is no new one; planned first, executed after.

A Form is a function from the state of a partition to the wanted offset. That is clamped to the log, because an offset
outside of it leaves the choice to the consumer's reset policy.
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
    """A partition of a group: the bounds of its log, and the commit (None: none)."""

    start: int = 0
    end: int = 0
    old: OffsetAndMetadata | None = None


class Wanted(Value):
    """The wanted commit; None deletes it. `note` is for the row. With `keep` nothing changes, with `exact` the log's
    bounds are ignored. A `plain` offset has no epoch and metadata: if it is committed already, they stay."""

    commit: OffsetAndMetadata | None = None
    note: str = ""
    keep: bool = False
    exact: bool = False
    plain: bool = True


class Change(Value):
    """One partition of a plan. `result` is would reset, would delete, unchanged, skipped, refused or failed; after
    execution reset, deleted, failed or unknown. `share`: of a share group, whose offsets say where it starts."""

    group: str = ""
    share: bool = False
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
    """The wanted offset of a partition, or the reason why it is unknown."""


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
    """The position, moved into the log if it is outside; `notes` gets a sentence. The epoch of a record that was
    deleted is dropped."""
    if wanted.offset < standing.start:
        notes.append(f"clamped: {wanted.offset} is before the log's start")
        return OffsetAndMetadata(offset=standing.start, metadata=wanted.metadata)
    if wanted.offset > standing.end:
        notes.append(f"clamped: {wanted.offset} is past the log's end")
        return OffsetAndMetadata(offset=standing.end, metadata=wanted.metadata)
    return wanted
