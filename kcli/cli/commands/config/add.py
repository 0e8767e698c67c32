"""`kcli config add`: a profile that the doctor has checked, in config.toml."""

from __future__ import annotations

import os
import tomllib
from shlex import quote
from typing import TYPE_CHECKING

from kcli.cli.commands.config.writing.file import anchor, write
from kcli.cli.commands.config.writing.toml import NewProfile, secrets_of, text_of
from kcli.cli.output.messages import complain
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ConnectionOptions
from kcli.config.profiles import SERVERS, Profile, check_trust, profile_of, user_file
from kcli.config.properties.merged import read_properties
from kcli.errors import UsageError

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.commands.doctor.steps import Check


class AddOptions(ConnectionOptions):
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse everything that changes this cluster.")] = False
    protected: Annotated[bool, typer.Option("--protected", help="Require --confirm to delete or alter anything.")] = (
        False
    )
    default: Annotated[
        bool, typer.Option("--default", help="Use it when nothing else names a cluster (default_profile).")
    ] = False
    no_check: Annotated[bool, typer.Option("--no-check", help="Write the profile without checking the connection.")] = (
        False
    )
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FILE", help="Write to this file, such as .kcli.toml (default: config.toml)."),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace the profile if it exists.")] = False
    profile = confirm = trace_file = None
    trace = verbose = False


@command(
    "config add",
    help="Add a profile, checked by the doctor.",
    words="NAME",
    examples="""
kcli config add dev -b localhost:9092
kcli config add prod -F client.properties --protected
kcli config add prod -b kafka-1:9093 -X security.protocol=SASL_SSL -X sasl.password='${env:PASSWORD}'""",
)
def add(options: AddOptions) -> int:
    """Add a cluster to config.toml as a profile. The doctor checks the connection first; if it fails, nothing is
    written. Write secrets as references: ${env:NAME}, ${file:PATH}, ${keyring:SERVICE/USER} or ${command:WORDS}.
    """
    name = _name(options.words)
    target = options.to or user_file()
    new = _new(name, options)
    profile = _profile(new, target)
    if not options.force and os.path.exists(target):
        _absent(name, target)
    about = ""
    if not options.no_check:
        steps = _checked(profile, quiet=options.quiet)
        code = _refusal(steps, name)
        if code:
            return code
        about = next((f" ({step.result})" for step in steps if step.step == "metadata" and step.status == "ok"), "")
    replaced = write(target, [new], force=options.force, default=name if options.default else "")
    if not options.quiet:
        for key in secrets_of(new):
            complain(f"{name}: {key} is plain text in {target}; -X {key}='${{env:NAME}}' writes a reference instead")
        before = f"; the previous file is {target}~" if replaced else ""
        word = quote(name)
        use = "it is now the default" if options.default else f"use it with --profile {word} or KCLI_PROFILE={word}"
        complain(f"{name}{about} written to {target}{before}; {use}")
    return 0


def _name(words: list[str]) -> str:
    if len(words) != 1:
        raise UsageError("config add needs one name: kcli config add NAME -b HOST:PORT")
    if not words[0].strip() or not words[0].isprintable():
        raise UsageError("config add: a profile name must be printable text")
    return words[0]


def _new(name: str, options: AddOptions) -> NewProfile:
    """The profile that the options describe. Raises UsageError."""
    if options.read_only and options.protected:
        raise UsageError("--read-only and --protected cannot be combined: --read-only is the stricter one")
    new = NewProfile(name=name, guard="read_only" if options.read_only else "protected" if options.protected else "")
    if options.config_file is not None:
        from kcli.cli.commands.config.importing.foreign import read

        cluster = read("properties", options.config_file, name)[0]
        new.bootstrap, new.properties = cluster.bootstrap, cluster.properties
        if cluster.left_out and not options.quiet:
            complain(f"{options.config_file}: omitted: {', '.join(cluster.left_out)}")
    read_properties(None, options.properties, looking=False, option="-X")  # refuses unknown names and values
    for item in options.properties:
        key, _, value = (part.strip() for part in item.partition("="))
        if key in SERVERS:
            new.bootstrap = value
        else:
            new.properties.pop(key, None)
            new.properties[key] = value
    new.bootstrap = new.bootstrap if options.bootstrap is None else options.bootstrap
    for key, value in new.properties.items():
        if value.startswith("${file:") and value.endswith("}"):
            new.properties[key] = f"${{file:{os.path.abspath(os.path.expanduser(value[7:-1]))}}}"
    anchor(new, os.path.dirname(options.config_file or ""))
    new.broker_map = dict(_pair(item) for item in options.broker_map)
    if not new.bootstrap:
        raise UsageError(f"config add {name}: no servers are set; add -b HOST:PORT")
    return new


def _pair(item: str) -> tuple[str, str]:
    from kcli.config.properties.broker_map import pair

    pair(item, "--broker-map")
    host, _, to = item.partition("=")
    return host.strip(), to.strip()


def _profile(new: NewProfile, target: str) -> Profile:
    """The profile as it will be read. Raises UsageError for servers and values that make no sense."""
    from kcli.cli.commands.config.check import check_servers

    table = tomllib.loads(text_of(new, reveal=True))["profiles"][new.name]
    profile = check_trust(profile_of(new.name, table, target))
    try:
        check_servers(profile)
        read_properties(None, [], profile, looking=False).security()
    except UsageError as problem:
        raise UsageError(f"config add {new.name}: {str(problem).removeprefix(f'{profile.where}: ')}") from None
    return profile


def _absent(name: str, target: str) -> None:
    """Raises UsageError where the file has a profile of that name: before the check, which takes time."""
    from kcli.config.profiles import document

    if name in document(target).get("profiles", {}):
        raise UsageError(f"{target} already has a profile {name}: --force replaces it, another name keeps both")


def _checked(profile: Profile, *, quiet: bool) -> list[Check]:
    """The doctor's steps, with what it warns of told."""
    from kcli.cli.commands.doctor.doctor import diagnose, sentence
    from kcli.cli.commands.doctor.steps import FAILED, WARNING
    from kcli.cli.runtime.connection import Connection

    steps = diagnose(lambda: Connection(ConnectionOptions(quiet=quiet), profile=profile))
    for step in steps:
        if step.status == FAILED or (step.status == WARNING and not quiet):
            complain(sentence(step))
    return steps


def _refusal(steps: list[Check], name: str) -> int:
    """The exit code where no connection works; a failure on a working one, such as missing rights, does not matter."""
    from kcli.cli.commands.doctor.steps import exit_code

    code = exit_code(steps)
    if code not in (2, 5):
        return 0
    complain(f"{name} was not written: the check failed; --no-check writes it anyway")
    return code
