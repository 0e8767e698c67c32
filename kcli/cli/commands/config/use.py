"""`kcli config use`: which profile commands use without --profile."""

from __future__ import annotations

import os

from kcli.cli.commands.config.options import RemarkOptions
from kcli.cli.commands.config.profiles import files
from kcli.cli.commands.config.writing.file import make_default
from kcli.cli.output.messages import complain
from kcli.cli.parsing.command import command
from kcli.config.profiles import user_file
from kcli.errors import UsageError


@command(
    "config use",
    help="Choose the profile that commands use.",
    words="PROFILE",
    examples="""
kcli config use prod
kcli config list          # IN USE shows which one it is""",
)
def use(options: RemarkOptions) -> int:
    """Make a profile the default_profile of config.toml. --profile and KCLI_PROFILE override it."""
    if len(options.words) != 1:
        raise UsageError("config use needs the name of a profile; `kcli config list` shows them")
    (name,) = options.words
    read = files()
    path = user_file()
    # the file of each profile; config.toml comes last, so that it has those that are in both
    files_of = {profile: where for where, contents in read for profile in contents.get("profiles", {})}
    if name not in files_of:
        from kcli.text.suggest import did_you_mean

        near = did_you_mean(name, list(files_of)) or "; `kcli config list` shows the profiles"
        raise UsageError(f"unknown profile {name}{near}")
    if files_of[name] != path:
        raise UsageError(f"{name} is a profile of {files_of[name]} only: set default_profile there")
    make_default(path, name)
    if not options.quiet:
        complain(f"commands now use {name} ({path})")
        _say_overrides(name, path, [(where, contents.get("default_profile")) for where, contents in read])
    return 0


def _say_overrides(name: str, path: str, defaults: list[tuple[str, str | None]]) -> None:
    """Say what makes the choice have no effect here."""
    if servers := os.environ.get("KCLI_BOOTSTRAP"):
        complain(f"KCLI_BOOTSTRAP={servers} overrides it: unset it")
    environment = os.environ.get("KCLI_PROFILE")
    if environment and environment != name:
        complain(f"KCLI_PROFILE={environment} overrides it: unset it, or write --profile {name}")
    for where, default in defaults:
        if os.path.realpath(where) != os.path.realpath(path) and default and default != name:
            complain(f"the default_profile {default} of {where} overrides it in this folder")
