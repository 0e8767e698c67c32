"""`kcli registry config`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.parsing.option import flag, texts
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError, UsageError
from kcli.registry.errors import NO_OWN, RegistryError

if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document


class ConfigRow(Row, section="settings"):
    subject: str | None = column("Name of the subject; null is the whole registry.", rank=1)
    name: str = column("Name of the setting.", unit="word", rank=1)
    value: str | None = column("The value that applies: a text, else JSON; null for none.", rank=1)
    source: str = column("subject: set for the subject itself; inherited.", unit="word", rank=2)
    new: str | None = column("The value after the change; null for none.", sparse=True, rank=1)
    result: str | None = column("would change, changed, unchanged or failed.", sparse=True, unit="word", rank=1)
    error: str | None = column("Why it failed.", table=False, unit="sentence")


SHAPE = shape("registry.config", "Settings of subjects or of the registry, one a row.", ConfigRow)


class ConfigOptions(RegistryOptions, ChangeOptions):
    set = texts("--set", metavar="NAME=VALUE", help="Set a setting; the value is JSON or a text. Repeatable.")
    unset = texts("--unset", metavar="NAME", help="Remove a setting. Repeatable.")
    delete = flag("--delete", help="Delete all settings of the subject: it inherits the global ones.")


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
    """Print the settings of subjects, or of the whole registry: the compatibility level and, where the registry has
    them, alias, normalize, compatibilityGroup, default and override metadata and rules. The plan of a change comes
    first, --execute applies it. A registry may ignore a setting that it does not have; that is an error.
    """
    changes = _changes(options)
    subjects = list(dict.fromkeys(options.words)) or [""]
    if options.delete and (changes or "" in subjects):
        raise UsageError("--delete takes a subject, and neither --set nor --unset")

    async def make_plan(registry: Registry, document: Document) -> PlannedChange | None:
        rows = document.of(ConfigRow)
        for subject in subjects:
            try:
                rows += await _rows(registry, subject, changes, options)
            except KcliError as problem:
                document.fail(problem, subject)
        ready = list(dict.fromkeys(row.subject or "" for row in rows if row.result == "would change"))
        if not ready or document.errors:
            return None

        async def carry_out() -> None:
            for subject in ready:
                mine = [row for row in rows if (row.subject or "") == subject and row.result == "would change"]
                await _settle(registry, document, subject, mine, changes)
                say(options, f"{subject or 'the registry'}: {', '.join(f'{row.name} {row.result}' for row in mine)}")

        names = [subject or "global" for subject in ready]
        return PlannedChange(names=names, verb="change", noun="subject", carry_out=carry_out)

    return make_change(options, SHAPE, make_plan, opened(options))


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
            raise UsageError(f"--set and --unset both name {name}")
        found["compatibility" if name == "compatibilityLevel" else name] = None
    return found


async def _rows(
    registry: Registry, subject: str, changes: dict[str, object], options: ConfigOptions
) -> list[ConfigRow]:
    """What applies to a subject now, and what will."""
    values = await registry.client.settings_of(subject)
    own = await _own(registry, subject)
    rows = []
    for name in [*values, *(name for name in changes if name not in values)]:
        new, result = None, None
        if name in changes:
            new = _shown(json.dumps(changes[name], ensure_ascii=False)) if changes[name] is not None else None
            result = "unchanged" if _shown(own.get(name)) == new else "would change"
        elif options.delete:
            result = "would change" if name in own else "unchanged"
        value, source = _shown(values.get(name)), "subject" if name in own else "inherited"
        of = subject or None
        rows.append(ConfigRow(subject=of, name=name, value=value, source=source, new=new, result=result, error=None))
    return rows


async def _own(registry: Registry, subject: str) -> dict[str, str]:
    """What is set for the subject itself."""
    try:
        return await registry.client.settings_of(subject, inherited=False)
    except RegistryError as problem:
        if problem.code in NO_OWN:
            return {}
        raise


def _shown(text: str | None) -> str | None:
    """A value for reading: a text without its quotes, anything else as JSON."""
    value = json.loads(text) if text else None
    return value if isinstance(value, str) else text or None


async def _settle(
    registry: Registry, document: Document, subject: str, rows: list[ConfigRow], changes: dict[str, object]
) -> None:
    """Change a subject's settings, and see what the registry made of it: some ignore what they do not know."""
    try:
        if changes:
            await registry.client.set_settings({row.name: changes[row.name] for row in rows}, subject)
        else:
            await registry.client.delete_level(subject)
        own = await _own(registry, subject)
    except KcliError as problem:
        document.fail(problem, subject)
        for row in rows:
            row.result, row.error = "failed", str(problem)
        return
    for row in rows:
        row.result = "changed"
        if changes and _shown(own.get(row.name)) != row.new:
            row.result, row.error = "failed", f"{subject or 'the registry'}: the registry ignored {row.name}"
            document.fail(KcliError(row.error), subject)
