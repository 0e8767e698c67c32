"""How files get into a folder: added, replaced, in a folder for each value."""

from __future__ import annotations

from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.parsing.option import Options, flag
from kcli.errors import UsageError


class FolderOptions(Options):
    """What becomes of files that are in the folder already."""

    append = flag("--append", help="Add files to DIR.")
    overwrite = flag("--overwrite", help="Replace the export that is in DIR.")


def folder_mode(frame: Frame, options: FolderOptions) -> str:
    """append, overwrite or error, as Spark calls them. Raises UsageError."""
    if options.append and options.overwrite:
        raise UsageError("--append and --overwrite exclude each other")
    if frame.streaming and options.overwrite:
        raise UsageError(f"--{frame.mode} adds to its earlier output; --overwrite is for --batch")
    return "append" if options.append else "overwrite" if options.overwrite else "error"


def column_names(given: str | None) -> tuple[str, ...]:
    """The names of --partition-by."""
    return tuple(name.strip() for name in (given or "").split(",") if name.strip())
