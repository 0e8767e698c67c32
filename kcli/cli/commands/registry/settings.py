"""`kcli registry compat` and `mode`: what holds for a subject, or for all that have none of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.registry.check import level_named
from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.parsing.option import flag, text
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError, UsageError
from kcli.registry.errors import NO_OWN, NotFound, RegistryError
from kcli.serde.avro.compatibility import LEVELS
from kcli.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.tables.shape import Shape

MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT")


class LevelRow(Row, section="levels"):
    subject: str | None = column("Name of the subject; null is the global level.", rank=1)
    level: str = column("The level that applies.", unit="word", rank=1)
    new: str | None = column("The level after the change; null without one.", sparse=True, unit="word", rank=1)
    result: str | None = column("would change, changed, unchanged or failed.", sparse=True, unit="word", rank=1)
    error: str | None = column("Why it failed.", table=False, unit="sentence")


class ModeRow(Row, section="modes"):
    subject: str | None = column("Name of the subject; null is the global mode.", rank=1)
    mode: str = column("The mode that applies.", unit="word", rank=1)
    new: str | None = column("The mode after the change; null without one.", sparse=True, unit="word", rank=1)
    result: str | None = column("would change, changed, unchanged or failed.", sparse=True, unit="word", rank=1)
    error: str | None = column("Why it failed.", table=False, unit="sentence")


COMPAT = shape("registry.compat", "Compatibility levels, one a row.", LevelRow)
MODE = shape("registry.mode", "Modes, one a row.", ModeRow)


class CompatOptions(RegistryOptions, ChangeOptions):
    set = text("--set", metavar="LEVEL", help="NONE, BACKWARD, FORWARD or FULL, each also with _TRANSITIVE.")
    delete = flag("--delete", help="Delete the subject's own level: it inherits the global one.")


class ModeOptions(RegistryOptions, ChangeOptions):
    set = text("--set", metavar="MODE", help="READWRITE, READONLY, READONLY_OVERRIDE or IMPORT.")
    delete = flag("--delete", help="Delete the subject's own mode: it inherits the global one.")
    force = flag("--force", help="Set IMPORT although there are schemas.")


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
    level = level_named(options.set) if options.set is not None else ""

    def setting(registry: Registry) -> Setting:
        client = registry.client
        return Setting(get=client.level, put=client.set_level, drop=client.delete_level)

    return _run(options, COMPAT, "level", level, setting)


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
    one. In IMPORT schemas are registered under ids that are given. The plan comes first, --execute applies it."""
    wanted = (options.set or "").upper().replace("-", "_")
    if options.set is not None and wanted not in MODES:
        raise UsageError(f"unknown mode {options.set}; the modes are {', '.join(MODES)}")

    def setting(registry: Registry) -> Setting:
        client = registry.client

        async def put(mode: str, subject: str) -> None:
            await client.set_mode(mode, subject, force=options.force)

        return Setting(get=client.mode, put=put, drop=client.delete_mode)

    return _run(options, MODE, "mode", wanted, setting)


class Setting(Frozen):
    """The requests of a level or a mode."""

    get: Callable[..., Awaitable[str]] = None  # type: ignore[assignment]  # always given
    put: Callable[[str, str], Awaitable[None]] = None  # type: ignore[assignment]  # always given
    drop: Callable[[str], Awaitable[None]] = None  # type: ignore[assignment]  # always given


def _run(
    options: CompatOptions | ModeOptions, shape: Shape, noun: str, wanted: str, setting: Callable[[Registry], Setting]
) -> int:
    subjects = list(dict.fromkeys(options.words)) or [""]
    if wanted and options.delete:
        raise UsageError("--set and --delete exclude each other")
    if options.delete and "" in subjects:
        raise UsageError(f"--delete takes a subject: the global {noun} can only be set")

    async def make_plan(registry: Registry, document: Document) -> PlannedChange | None:
        await _check_words(registry, options.words, noun)
        asked = setting(registry)
        kind: type[LevelRow | ModeRow] = LevelRow if noun == "level" else ModeRow
        rows = document.of(kind)
        for subject in subjects:
            try:
                rows.append(await _row(kind, noun, asked, subject, wanted, deleting=options.delete))
            except KcliError as problem:
                document.fail(problem, subject)
        ready = [row for row in rows if row.result == "would change"]
        if not ready:
            return None

        async def carry_out() -> int | None:
            for row in ready:
                try:
                    await (asked.put(wanted, row.subject or "") if wanted else asked.drop(row.subject or ""))
                    row.result = "changed"
                    say(options, f"{row.subject or 'the global ' + noun}: {getattr(row, noun)} → {row.new}")
                except KcliError as problem:
                    row.result, row.error = "failed", str(problem)
                    document.fail(problem, row.subject or "")
            return None

        return PlannedChange(
            names=[row.subject or "global" for row in ready], verb="change", noun="subject", carry_out=carry_out
        )

    return make_change(options, shape, make_plan, opened(options))


async def _check_words(registry: Registry, words: list[str], noun: str) -> None:
    """Raise UsageError for a word that is a level or a mode, and no subject of the registry: --set takes it."""
    verb, values = ("compat", [*LEVELS]) if noun == "level" else ("mode", [*MODES])
    for word in words:
        if word.upper().replace("-", "_") not in values:
            continue
        try:
            await registry.client.versions(word)
        except NotFound:
            others = "".join(f" {other}" for other in words if other != word)
            raise UsageError(f"{word} is a {noun} and no subject: kcli registry {verb}{others} --set {word}") from None


async def _row(
    kind: type[LevelRow | ModeRow], noun: str, setting: Setting, subject: str, wanted: str, *, deleting: bool
) -> LevelRow | ModeRow:
    """What applies now, and what will."""
    now = await setting.get(subject)
    new = result = None
    if wanted or deleting:
        new = wanted or await setting.get("")
        own = await _own(setting, subject) if subject else now
        result = "unchanged" if own == (wanted or None) else "would change"
    return kind(**{noun: now}, subject=subject or None, new=new, result=result, error=None)


async def _own(setting: Setting, subject: str) -> str | None:
    """What is set for the subject itself; None where the registry says that nothing is."""
    try:
        return await setting.get(subject, inherited=False)
    except RegistryError as problem:
        if problem.code in NO_OWN:
            return None
        raise
