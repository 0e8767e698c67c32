"""`kcli undo`: by the number of a change, or from an undo file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kcli.admin.groups.offset_files import SCHEMA as OFFSETS
from kcli.changes import journal
from kcli.changes.acls import SCHEMA as ACLS
from kcli.changes.configs import SCHEMA as CONFIGS
from kcli.changes.quotas import SCHEMA as QUOTAS
from kcli.changes.schemas import SCHEMA as REGISTRY
from kcli.changes.undo import ChangeToUndo
from kcli.cli.commands.acls import change as acls
from kcli.cli.commands.config.profiles import print_rows
from kcli.cli.commands.configs import plan as configs
from kcli.cli.commands.groups.reset import reset as offsets
from kcli.cli.commands.history import SHAPE as HISTORY
from kcli.cli.commands.history import HistoryOptions, found
from kcli.cli.commands.quotas import plan as quotas
from kcli.cli.commands.registry.transfer import moves as registry
from kcli.cli.commands.registry.transfer.moves import RestoreOptions
from kcli.cli.parsing.command import command
from kcli.cli.runtime.journal import read_undo_file
from kcli.errors import UsageError
from kcli.system.files import passing
from kcli.text.json_object import JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Annotated

    import typer

    from kcli.cli.parsing.option import Options

RESTORE: dict[str, Callable[[Any, JsonObject], int]] = {
    ACLS: acls.restore,
    CONFIGS: configs.restore,
    OFFSETS: offsets.restore,
    QUOTAS: quotas.restore,
    REGISTRY: registry.restore,
}
"""What restores a subject, by the schema of its undo file."""


class UndoCommandOptions(RestoreOptions):
    force: Annotated[
        bool,
        typer.Option("--force", help="Undo even values that have changed since; with a file, also on another cluster."),
    ] = False


@command(
    "undo",
    help="Undo a change, by its number or its undo file.",
    words="N|FILE",
    examples="""
kcli undo                    # the last changes that can be undone
kcli undo 12                 # the plan
kcli undo 12 --execute
kcli undo before.json --execute    # a file of --undo-file""",
)
def undo(options: UndoCommandOptions) -> int:
    """Restore what a change replaced: configs, offsets, ACLs, quotas, replicas, schemas, and what `apply` changed.
    Without a number, list the last changes that can be undone. The plan comes first; --execute applies it.

    Undo refuses to run on another cluster, or if a value has changed since, unless --force is given. An undo can
    be undone, too.
    """
    if not options.words:
        shown = HistoryOptions(undoable=True, **_shared(options, HistoryOptions))
        return print_rows(shown, HISTORY, found(shown)[:10])
    if len(options.words) > 1:
        raise UsageError("give only one change: kcli undo N, or kcli undo FILE")
    word = options.words[0]
    if not word.isdecimal():
        saved = read_undo_file(word).fields
        options.undoes = ChangeToUndo(word, _cluster(saved), None, force=options.force)
        return _restore(options, saved, word)
    entry = journal.entry(int(word))
    rows, document = entry.details()
    if document is None:
        raise UsageError(f"change {word} cannot be undone: it kept no previous state ({entry.command})")
    options.undoes = ChangeToUndo(f"change {word}", entry.cluster, rows, force=options.force, topic_ids=entry.topic_ids)
    return _restore(options, document, f"change {word}")


def _cluster(saved: Mapping[str, Any]) -> str | None:
    """The cluster or the registry of an undo file, None where it names none."""
    taken = saved.get("taken")
    first = taken[0] if isinstance(taken, list) and taken else None
    named = first.get("cluster_id") if isinstance(first, dict) else None
    return named if isinstance(named, str) else None


def _restore(options: UndoCommandOptions, document: Mapping[str, Any], name: str) -> int:
    """Plan and apply what a document restores. Raises UsageError for one that is no undo file."""
    schema = document.get("schema")
    try:
        if restore := RESTORE.get(str(schema)):
            return restore(options, JsonObject(fields=document))
    except ValueError as error:
        raise UsageError(f"{name}: not an undo file ({error})") from None
    with passing(json.dumps(document).encode()) as path:
        if schema == "kcli.declared/1":
            from kcli.cli.commands.apply.apply import ApplyOptions, apply

            return apply(_as(ApplyOptions, options, words=[path], prune="absent" in document))
        if "partitions" in document and "version" in document:  # Kafka's own file has no schema
            from kcli.cli.commands.reassign.execute import ExecuteOptions, execute

            return execute(_as(ExecuteOptions, options, words=[path]))
    raise UsageError(f"{name}: not an undo file (its schema is {schema})")


def _as(kind: type[Any], options: UndoCommandOptions, **more: object) -> Any:
    """The options of the command that restores this subject."""
    made = kind(**_shared(options, kind), **more)
    made.undoes = options.undoes
    return made


def _shared(options: Options, kind: type[Options]) -> dict[str, object]:
    """The options that a line names and `kind` has too."""
    return {name: value for name, value in options.given().items() if name in kind.names}
