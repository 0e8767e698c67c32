"""`kcli config remove`: profiles out of their file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kcli.cli.commands.config.options import RemarkOptions
from kcli.cli.commands.config.writing.file import remove as remove_from
from kcli.cli.output.messages import complain
from kcli.cli.parsing.command import command
from kcli.config.profiles import document, project_file, user_file
from kcli.errors import UsageError

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class RemoveOptions(RemarkOptions):
    from_file: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FILE", help="Remove from this file, such as .kcli.toml (default: config.toml)."
        ),
    ] = None


@command(
    "config remove",
    help="Remove profiles.",
    words="PROFILE...",
    examples="""
kcli config remove dev
kcli config remove dev --from .kcli.toml""",
)
def remove(options: RemoveOptions) -> int:
    """Remove profiles from config.toml. Comments and other profiles stay; a backup of the file is kept next to it."""
    names = options.words
    if not names:
        raise UsageError("config remove needs the names of profiles; `kcli config list` shows them")
    path = options.from_file or user_file()
    there = list(document(path).get("profiles", {})) if os.path.isfile(path) else []
    for name in names:
        if name not in there:
            raise UsageError(_unknown(name, path, there))
    default = remove_from(path, names)
    if not options.quiet:
        more = ", which was the default_profile" if default else ""
        complain(f"{', '.join(names)} removed from {path}{more}; the previous file is {path}~")
    return 0


def _unknown(name: str, path: str, there: list[str]) -> str:
    from kcli.text.suggest import did_you_mean

    project = project_file()
    if (
        project
        and os.path.realpath(project) != os.path.realpath(path)
        and name in document(project).get("profiles", {})
    ):
        return f"{path} has no profile {name}; it is in {project}: use --from {project}"
    return f"{path} has no profile {name}{did_you_mean(name, there) or '; `kcli config list` shows the profiles'}"
