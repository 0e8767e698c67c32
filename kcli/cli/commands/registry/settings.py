"""`kcli registry compat`, `mode` and `config`: what holds for a subject, or for all that have none of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kcli.changes import schemas
from kcli.changes.change import UNCHANGED
from kcli.changes.schemas import LEVELS as LEVEL_ROWS
from kcli.changes.schemas import MODE_NAMES, MODES, SETTINGS
from kcli.cli.commands.registry.check import level_named
from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened, subjects_in
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.change import apply_plan
from kcli.errors import UsageError
from kcli.registry.errors import NotFound
from kcli.serde.avro.compatibility import LEVELS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes import change as changes
    from kcli.changes.change import Plan
    from kcli.cli.output.tables.shape import Shape


class LevelRow(Row, section="levels"):
    subject: str | None = column("Name of the subject; null is the global level.", rank=1)
    level: str = column("The level that applies.", unit="word", rank=1)
    new: str | None = column("The level after the change; null without one.", sparse=True, unit="word", rank=1)
    result: str | None = column(
        "would change, changed, unchanged, failed or unknown.", sparse=True, unit="word", rank=1
    )
    error: str | None = column("Why it failed.", table=False, unit="sentence")


class ModeRow(Row, section="modes"):
    subject: str | None = column("Name of the subject; null is the global mode.", rank=1)
    mode: str = column("The mode that applies.", unit="word", rank=1)
    new: str | None = column("The mode after the change; null without one.", sparse=True, unit="word", rank=1)
    result: str | None = column(
        "would change, changed, unchanged, failed or unknown.", sparse=True, unit="word", rank=1
    )
    error: str | None = column("Why it failed.", table=False, unit="sentence")


class ConfigRow(Row, section="settings"):
    subject: str | None = column("Name of the subject; null is the whole registry.", rank=1)
    name: str = column("Name of the setting.", unit="word", rank=1)
    value: str | None = column("The value that applies, as text or JSON; null for none.", rank=1)
    source: str = column("subject: set for the subject itself; inherited.", unit="word", rank=2)
    new: str | None = column("The value after the change; null for none.", sparse=True, rank=1)
    result: str | None = column(
        "would change, changed, unchanged, failed or unknown.", sparse=True, unit="word", rank=1
    )
    error: str | None = column("Why it failed.", table=False, unit="sentence")


COMPAT = shape("registry.compat", "Compatibility levels, one a row.", LevelRow)
MODE = shape("registry.mode", "Modes, one a row.", ModeRow)
CONFIG = shape("registry.config", "Settings of subjects or of the registry, one a row.", ConfigRow)


class CompatOptions(RegistryOptions, UndoOptions):
    set: Annotated[
        str | None,
        typer.Option("--set", metavar="LEVEL", help="NONE, BACKWARD, FORWARD or FULL, each also with _TRANSITIVE."),
    ] = None
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete the subject's own level: it inherits the global one.")
    ] = False


class ModeOptions(RegistryOptions, UndoOptions):
    set: Annotated[
        str | None, typer.Option("--set", metavar="MODE", help="READWRITE, READONLY, READONLY_OVERRIDE or IMPORT.")
    ] = None
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete the subject's own mode: it inherits the global one.")
    ] = False
    force: Annotated[bool, typer.Option("--force", help="Set IMPORT even if there are schemas.")] = False


class ConfigOptions(RegistryOptions, UndoOptions):
    set: Annotated[
        list[str],
        typer.Option("--set", metavar="NAME=VALUE", help="Set a setting; the value is JSON or text. Repeatable."),
    ]
    unset: Annotated[list[str], typer.Option("--unset", metavar="NAME", help="Remove a setting. Repeatable.")]
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete all settings of the subject: it inherits the global ones.")
    ] = False


@command(
    "registry compat",
    help="Show and set compatibility levels.",
    words="SUBJECT",
    examples="""
kcli registry compat
kcli registry compat orders-value
kcli registry compat orders-value --set full --execute
kcli registry compat orders-value --delete --execute""",
)
def compat(options: CompatOptions) -> int:
    """Print the compatibility level of a subject, or the global one; --set changes it, --delete lets the subject
    inherit the global one. The plan comes first, --execute applies it."""
    level = level_named(options.set) if options.set is not None else None
    return _run(options, COMPAT, LevelRow, LEVEL_ROWS, level)


@command(
    "registry mode",
    help="Show and set modes: read-write, read-only, import.",
    words="SUBJECT",
    examples="""
kcli registry mode
kcli registry mode orders-value --set readonly --execute
kcli registry mode orders-value --delete --execute""",
)
def mode(options: ModeOptions) -> int:
    """Print the mode of a subject, or the global one; --set changes it, --delete lets the subject inherit the global
    one. In mode IMPORT, schemas are registered under given ids. The plan comes first, --execute applies it."""
    wanted = (options.set or "").upper().replace("-", "_")
    if options.set is not None and wanted not in MODE_NAMES:
        raise UsageError(f"unknown mode {options.set}; the modes are {', '.join(MODE_NAMES)}")
    return _run(options, MODE, ModeRow, MODES, wanted or None, force=options.force)


@command(
    "registry config",
    help="Show and set settings: level, alias, normalize and more.",
    words="SUBJECT",
    examples="""
kcli registry config
kcli registry config orders-value
kcli registry config orders-value --set normalize=true --set alias=orders-v1-value --execute
kcli registry config orders-value --unset alias --execute
kcli registry config orders-value --delete --execute""",
)
def config(options: ConfigOptions) -> int:
    """Print the settings of subjects, or of the whole registry: the compatibility level and, if the registry supports
    them, alias, normalize, compatibilityGroup, default and override metadata and rules. The plan of a change comes
    first, --execute applies it. If the registry ignores a setting that it does not support, kcli reports an error.
    """
    changes = _changes(options)
    if options.delete and (changes or not options.words):
        raise UsageError("--delete needs a subject, and cannot be combined with --set or --unset")
    return _run(options, CONFIG, ConfigRow, SETTINGS, changes or None)


def _run(
    options: CompatOptions | ModeOptions | ConfigOptions,
    shape: Shape,
    kind: type[Row],
    section: str,
    wanted: object,
    *,
    force: bool = False,
) -> int:
    subjects = list(dict.fromkeys(options.words)) or [""]
    looks = wanted is None and not options.delete
    noun = kind.section[:-1]
    if wanted is not None and options.delete:
        raise UsageError("--set and --delete cannot be combined")
    if options.delete and "" in subjects:
        raise UsageError(f"--delete needs a subject: the global {noun} can only be set")

    async def planned(registry: Registry) -> Plan:
        if section != SETTINGS:
            await _check_words(registry, options.words, noun)
        change: dict[str, Any] = {section: dict.fromkeys(subjects, wanted)}
        return await schemas.plan(registry, schemas.Wanted(**change), force=force, look=looks)

    nothing = "" if looks else "nothing to change"
    return apply_plan(
        *(options, shape, kind, planned),
        opened=opened(options), names=subjects_in, done=_done, nothing=nothing, verb="change", noun="subject",
    )  # fmt: skip


def _done(rows: Sequence[changes.Row]) -> str:
    settled = [row for row in rows if row.result not in ("", UNCHANGED)]
    return "; ".join(f"{row.name or 'the registry'}: {row.item} {row.result}" for row in settled)


def _changes(options: ConfigOptions) -> dict[str, object]:
    """The new values by name, None for one that is removed. Raises UsageError."""
    found: dict[str, object] = {}
    for word in options.set:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {word}: expected NAME=VALUE")
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError):
            value = text
        found["compatibility" if name == "compatibilityLevel" else name] = value
    for name in options.unset:
        if name in found:
            raise UsageError(f"--set and --unset both contain {name}")
        found["compatibility" if name == "compatibilityLevel" else name] = None
    return found


async def _check_words(registry: Registry, words: list[str], noun: str) -> None:
    """Raise UsageError for a word that is a level or a mode, and no subject of the registry: --set takes it."""
    verb, values = ("compat", [*LEVELS]) if noun == "level" else ("mode", [*MODE_NAMES])
    for word in words:
        if word.upper().replace("-", "_") not in values:
            continue
        try:
            await registry.client.versions(word)
        except NotFound:
            others = "".join(f" {other}" for other in words if other not in (word, "set"))
            raise UsageError(f"{word} is a {noun}, not a subject: kcli registry {verb}{others} --set {word}") from None
