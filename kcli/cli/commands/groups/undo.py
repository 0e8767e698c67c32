"""What was committed before a change, as `groups reset --from-file` reads it."""

from __future__ import annotations

from kcli.admin.groups.offset_files import SCHEMA, Saved, read, row
from kcli.changes.change import Undo
from kcli.cli.runtime.answer import words_of
from kcli.cli.runtime.names import names_of
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.cli.parsing.groups import PatternOptions
    from kcli.model import OffsetAndMetadata, TopicPartition

    Before = Sequence[tuple[str, TopicPartition, OffsetAndMetadata | None]]


def undo_of(before: Before) -> Undo:
    """What undoes a change of these commits; nothing where there was none."""
    if not before:
        return Undo()
    document = {"schema": SCHEMA, "ok": True, "offsets": [row(*commit) for commit in before], "errors": []}
    return Undo(document=document, file="-".join(sorted({group for group, _, _ in before})))


def saved_offsets(name: str, options: PatternOptions) -> tuple[Saved, list[str]]:
    """The offsets of a file (- is stdin), and the groups that are meant: those named, or those of the file. A file that
    names no group is about each group named. Raises UsageError."""
    saved = read(_text(name), "stdin" if name == "-" else name)
    match = names_of(options, options.words).among(saved.groups)
    groups = match.names
    if "" in saved.groups:
        groups = words_of(options, "GROUP: the file has offsets of one group and does not say which")
        plain = saved.groups.pop("")
        saved.groups = {**dict.fromkeys(groups, plain), **saved.groups}
    missing = [group for group in groups if group not in saved.groups] + match.unmatched
    if missing:
        there = ", ".join(list(saved.groups)[:5])
        raise UsageError(
            f"{name} has the offsets of {there}, not of {missing[0]}; `kcli groups clone` brings those of one group "
            "to another"
        )
    return saved, groups or list(saved.groups)


def _text(name: str) -> str:
    import sys

    try:
        if name == "-":
            return sys.stdin.read()
        with open(name, encoding="utf-8", newline="") as source:
            return source.read()
    except OSError as error:
        raise UsageError(f"--from-file {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--from-file {name}: this is no text in UTF-8") from None
