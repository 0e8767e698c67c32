"""How files get into a folder: added, replaced, in a folder for each value."""

from __future__ import annotations

from kcli.cli.commands.pipeline.session.delta import DELTA
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.parsing.option import Options, flag
from kcli.errors import UsageError
from kcli.pipeline.jobs.files.export import FileForm, check, elsewhere
from kcli.pipeline.jobs.files.folder import Folder


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


def folder_of(frame: Frame, options: FolderOptions, form: FileForm, out: str) -> Folder:
    """The folder that files of this form are written to. Raises UsageError where the form, the mode and the place do
    not go together."""
    check(form)
    folder = Folder(out, folder_mode(frame, options), direct=frame.streaming or form.form == "delta")
    if form.plain_delta and not folder.local:
        raise elsewhere(out)
    if form.plain_delta and frame.streaming and frame.remote is not None:
        raise UsageError(f"--{frame.mode} into a Delta table goes with --master: its versions are made by the driver")
    return folder


def conf_of(form: FileForm) -> tuple[tuple[str, str], ...]:
    """Settings of Spark for files of this form."""
    return DELTA if form.form == "delta" and form.jars else ()
