"""`kcli rollback`: `groups reset --to @TIME --time-field NAME` in short."""

from __future__ import annotations

from kcli.cli.commands.consume.payload_time.filter import moment
from kcli.cli.commands.groups.reset.forms import now_ms
from kcli.cli.commands.groups.reset.payload_time import prepare_of
from kcli.cli.commands.groups.reset.reset import refuse_empty, reset_to
from kcli.cli.commands.groups.scope import Scope, ScopeOptions
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedGroups, PatternOptions, TimeFieldOptions, UndoOptions
from kcli.cli.parsing.option import text
from kcli.cli.runtime.answer import words_of
from kcli.cli.runtime.names import names_of
from kcli.errors import UsageError


class RollbackOptions(NamedGroups, PatternOptions, TimeFieldOptions, ScopeOptions, UndoOptions):
    start = text("--start", metavar="TIME", help="Where to: ISO 8601, epoch s or ms, -1h, today, 07:30.")


@command(
    "rollback",
    words="GROUP",
    examples="""
kcli rollback billing -t orders --time-field event.ts --start 2026-03-01T09:00Z             # the plan
kcli rollback billing -t orders --time-field event.ts --start -2h --jitter 5m --execute""",
)
def rollback(options: RollbackOptions) -> int:
    """Commit for a group the first offset of each partition whose record has that time or a later one in a
    field of its value: what `consume --start TIME --time-field NAME` begins with. It is `groups reset --to @TIME
    --time-field NAME` in short: the plan first, --execute applies it, an undo file takes it back.
    """
    if options.time_field is None:
        raise _refusal("--time-field NAME")
    time = moment(options.start, "--start", now_ms())
    if time is None:
        raise _refusal("--start TIME")
    scope = Scope(options.topics, all_topics=options.all_topics, literal=options.literal)
    groups = names_of(options, words_of(options, "GROUP"))
    refuse_empty(scope)
    return reset_to(options, groups, scope, prepare_of(options, time, quiet=options.quiet), time)


def _refusal(flag: str) -> UsageError:
    return UsageError(f"rollback takes {flag}; other ways to move a group are in `kcli groups reset`")
