"""`kcli rollback`: `groups reset --to @TIME` in short, by record timestamps or with `--time-field NAME`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes.offset_forms import form_at, now_ms
from kcli.cli.commands.consume.payload_time import end_of_log, moment, refuse_without_field
from kcli.cli.commands.groups.reset.payload_time import prepare_of
from kcli.cli.commands.groups.reset.reset import refuse_empty, reset_to
from kcli.cli.commands.groups.scope import CreateOptions, Scope, ScopeOptions
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedGroups, PatternOptions, TimeFieldOptions, UndoOptions
from kcli.cli.runtime.answer import words_of
from kcli.cli.runtime.names import names_of
from kcli.errors import UsageError
from kcli.grammar.bound import Bound

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.changes.offset_forms import Prepare


class RollbackOptions(NamedGroups, PatternOptions, TimeFieldOptions, CreateOptions, ScopeOptions, UndoOptions):
    start: Annotated[
        str | None,
        typer.Option(
            "--start", metavar="TIME", help="Time to rewind to: earliest, latest, ISO 8601, epoch, -1h, today, 07:30."
        ),
    ] = None


@command(
    "rollback",
    words="GROUP",
    examples="""
kcli rollback billing -t orders --start -2h                                                 # by timestamps
kcli rollback billing -t orders --start earliest --execute
kcli rollback billing -t orders --time-field event.ts --start 2026-03-01T09:00Z             # the plan
kcli rollback billing -t orders --time-field event.ts --start -2h --jitter 5m --execute""",
)
def rollback(options: RollbackOptions) -> int:
    """For each partition, commit the offset of the first record with that timestamp or a later one; with --time-field,
    the time is a field of the value. `consume --start TIME` starts with the same record. Short for `groups reset --to
    @TIME`: the plan comes first, --execute applies it, `kcli undo` undoes it.
    """
    if options.start is None:
        raise UsageError("rollback needs --start TIME; `kcli groups reset` has other ways to move a group")
    prepare, time = _form(options, options.start)
    scope = Scope(options.topics, all_topics=options.all_topics, literal=options.literal)
    groups = names_of(options, words_of(options, "GROUP"))
    refuse_empty(scope)
    return reset_to(options, groups, scope, prepare, time, create=options.create)


def _form(options: RollbackOptions, start: str) -> tuple[Prepare, int | None]:
    """How to reset, and the moment that is meant, if one is. Raises UsageError."""
    place = end_of_log(start)
    if options.time_field is None:
        refuse_without_field(options)
        place = place or Bound("time", moment(start, "--start", now_ms()) or 0)
        return form_at(place), place.value if place.kind == "time" else None
    if place is not None:
        raise UsageError(f"--start {start} is not a time that --time-field can use")
    time = moment(start, "--start", now_ms()) or 0
    return prepare_of(options, time, options), time
