"""The profiles of the files that there are, and rows about them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kcli.cli.output.failure import complain_of_nothing
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.parsing.groups import FormatOptions, QuietOptions, RefreshOptions, RowOptions
from kcli.cli.runtime.answer import format_of, watches
from kcli.cli.runtime.views import view_of
from kcli.config.profiles import document, not_read, project_file, user_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.cli.output.tables.rows import Row
    from kcli.cli.output.tables.shape import Shape
    from kcli.config.profiles import ProfilesFile


class ListOptions(RowOptions, RefreshOptions):
    """What lists of profiles have, which ask no cluster."""


def files() -> list[tuple[str, ProfilesFile]]:
    """(path, contents) of the project's file and the user's, as far as they are there. Raises UsageError."""
    paths = [path for path in (project_file(), user_file()) if path and os.path.isfile(path)]
    return [(path, document(path)) for path in dict.fromkeys(paths)]


def remark(options: QuietOptions, rows: Sequence[Row]) -> None:
    """Say which file is ignored, and where profiles are written if there are none."""
    ignored = "" if options.quiet else not_read(above=False)
    if ignored:
        complain(ignored)
    if not rows and not options.quiet:
        complain("no profiles; add one: kcli config add NAME -b HOST:PORT, or kcli config import")


def print_list(options: ListOptions, shape: Shape, rows: Callable[[], Sequence[Row]]) -> int:
    """Print rows of one kind, the main one of the shape, once or again and again; the exit code."""
    if not watches(options):
        return print_rows(options, shape, rows())
    view = view_of(options, shape, format_of(options))

    async def once() -> tuple[Document, int]:
        return Document(shape=shape, rows={shape.main.name: list(rows())}, view=view), 0

    from kcli.cli.runtime.refresh import watch
    from kcli.cli.runtime.signals import run

    return run(lambda stop: watch(once, stop, options, format_of(options)))


def print_rows(options: FormatOptions, shape: Shape, rows: Sequence[Row]) -> int:
    """Print rows of one kind, the main one of the shape; a table without rows is not printed."""
    document = Document(
        shape=shape, rows={shape.main.name: list(rows)}, view=view_of(options, shape, format_of(options))
    )
    if rows or format_of(options) != "table":
        write(document, format_of(options))
    complain_of_nothing(document, format_of(options))
    return 0
