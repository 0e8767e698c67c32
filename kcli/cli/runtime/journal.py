"""A command's change in the journal: written before the change is sent, its outcome afterwards."""

from __future__ import annotations

import json
import time
from shlex import quote

from kcli import cli
from kcli.changes import journal
from kcli.cli.documents.input_file import read_file
from kcli.cli.output.written import check
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.answer import say
from kcli.errors import KcliError, UsageError
from kcli.secret import without_login
from kcli.system.files import DOCUMENT, new_file
from kcli.text.json_object import read_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import TypeVar

    from kcli.changes.change import Undo
    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.groups import OutputOptions
    from kcli.text.json_object import JsonObject

    Outcome = TypeVar("Outcome")


async def journaled(
    options: OutputOptions,
    target: object,
    rows: Callable[[], Sequence[dict[str, object]]],
    undo: Undo | None,
    work: Callable[[], Awaitable[Outcome]],
) -> Outcome:
    """Do the work of a change between its two lines in the journal, and say how to undo what was changed. Where it was
    not finished, rows that were only planned may have been changed. Raises KcliError, before anything is sent, where
    what undoes it cannot be kept."""
    keeps = undo is not None and bool(undo.document) and isinstance(options, UndoOptions) and options.keeps_undo
    needs = keeps and isinstance(options, UndoOptions) and options.needs_undo
    where = await journal.where_of(target, undo)
    if undo is not None and isinstance(options, UndoOptions):
        write_undo_file(options, undo, where)

    def undoes(number: int) -> None:
        if needs:
            say(options, f"to undo this: kcli undo {number}{_where_of(options)} --execute")

    try:
        return await journal.recorded(
            *(cli.typed, where, rows, undo if keeps else None, work),
            must=needs and not getattr(options, "undo_file", None),
            say=lambda sentence: say(options, sentence),
            undoes=undoes,
        )
    except journal.NotWritten as problem:
        raise KcliError(
            f"{problem}; --undo-file FILE saves the previous state elsewhere, --no-undo saves nothing"
        ) from None


def rows_of(document: Document) -> list[dict[str, object]]:
    """The rows of all sections that have a result."""
    return [row for section in document.shape.sections for row in document.all(section) if "result" in row]


def _where_of(options: OutputOptions) -> str:
    """The options that name the same cluster again; those with secrets in them are left out."""
    given = [("-b", options.bootstrap), ("--profile", options.profile), ("-F", options.config_file)]
    registry = getattr(options, "schema_registry", None)
    given += [("--schema-registry", registry)] if registry and registry == without_login(registry) else []
    return "".join(f" {flag} {quote(value)}" for flag, value in given if value)


def check_undo_file(options: UndoOptions) -> None:
    """Raises UsageError for options that contradict each other, and for a file that exists."""
    if options.undo_file is None:
        return
    if options.no_undo:
        raise UsageError("--undo-file and --no-undo cannot be combined")
    if not options.plan_only:
        check(options.undo_file, "--undo-file")


def write_undo_file(options: UndoOptions, kept: Undo, where: str | None) -> None:
    """Write what `--undo-file` asks for, if there is anything to undo. Raises KcliError."""
    path = options.undo_file
    if path is None or not kept.document:
        return
    taken = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "cluster_id": where}
    text = json.dumps({**kept.document, "taken": [taken]}, ensure_ascii=False, indent=1) + "\n"
    try:
        with new_file(path, mode=0o600) as out:
            out.write(text.encode())
    except OSError as error:
        raise KcliError(f"nothing was changed: the undo file {path} cannot be written ({error.strerror})") from None


def read_undo_file(path: str) -> JsonObject:
    """The document of an undo file; `-` is stdin. Raises UsageError."""
    try:
        return read_object(read_file(path, DOCUMENT).decode("utf-8-sig"))
    except RecursionError:
        raise UsageError(f"{path}: not an undo file (nested too deeply)") from None
    except ValueError as error:
        raise UsageError(f"{path}: not an undo file ({error})") from None
