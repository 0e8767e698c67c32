"""`kcli groups reset`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.groups import changes, plans
from kcli.cli.commands.groups.changes import ChangeRow
from kcli.cli.commands.groups.reset.forms import FormOptions, check_form, form_of, now_ms
from kcli.cli.commands.groups.scope import CreateOptions, Scope, ScopeOptions
from kcli.cli.commands.groups.undo import saved_offsets
from kcli.cli.output.tables.rows import shape
from kcli.cli.output.timestamps import utc
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import EveryGroup, NamedGroups, PatternOptions, UndoOptions
from kcli.cli.runtime.answer import say, words_of
from kcli.cli.runtime.names import names_of
from kcli.errors import UsageError

if TYPE_CHECKING:
    from kcli.cli.commands.groups.plans import Prepare
    from kcli.text.names import Names

SHAPE = shape("groups.reset", "Committed offsets that were changed, or would be: old, new and delta.", ChangeRow)


class ResetOptions(NamedGroups, EveryGroup, PatternOptions, FormOptions, CreateOptions, ScopeOptions, UndoOptions):
    pass


@command(
    "groups reset",
    help="Change the committed offsets of groups.",
    words="GROUP",
    examples="""
kcli groups reset billing --all-topics --to-earliest             # the plan
kcli groups reset 'billing-*' -t '^orders' --to-latest           # all that match
kcli groups reset billing -t orders:0,1 --to-offset 4711 --execute
kcli groups reset billing -t orders --to-datetime 2026-01-31T10:00:00Z --execute
kcli groups reset billing -t orders --to 0=5,1=end                # an offset for each partition
kcli groups reset billing --all-topics --by-duration PT1H30M --execute
kcli groups reset billing --all-topics --shift-by -100 --execute
kcli groups reset billing -t orders --to @-2h --execute          # the grammar of `consume -o`
kcli groups reset billing -t orders --to @-2h --time-field event.ts --execute    # by a time in the values
kcli groups reset --from-file undo.json --execute                # undo a reset
kcli groups reset billing-2 --from-group billing -t orders --execute""",
)
def reset(options: ResetOptions) -> int:
    """Set the committed offsets of groups that have no members. The plan comes first: old, new and
    delta of each partition; --execute applies it, and on a terminal kcli asks.

    `kcli undo` restores the previous offsets, also where no offset was committed. Offsets are clamped to the log, and
    a note says so. A share group starts at the given offset, and forgets what it acknowledged after it.
    """
    scope = Scope(options.topics, all_topics=options.all_topics, literal=options.literal)
    check_form(options)
    if (path := options.from_file) is not None:
        saved, kept = saved_offsets(path, options)
        return changes.run(options, SHAPE, lambda at, _: plans.from_file(options, at, path, saved, kept, scope))
    groups = names_of(options, words_of(options, "GROUP"))
    by_pattern = bool(groups.patterns)
    if (source := options.from_group) is not None:
        names = names_of(options, [source])
        return changes.run(
            options,
            SHAPE,
            lambda at, document: plans.from_group(at, names, groups, scope, document, create=options.create),
            by_pattern=by_pattern,
        )
    refuse_empty(scope)
    prepare, moment = form_of(options, now_ms(), options)
    return reset_to(options, groups, scope, prepare, moment, create=options.create)


def refuse_empty(scope: Scope) -> None:
    """Raises UsageError where no topic is named."""
    if scope.empty:
        raise UsageError("missing topics: --topic TOPIC, or --all-topics for all that the group has committed")


def reset_to(
    options: UndoOptions, groups: Names, scope: Scope, prepare: Prepare, moment: int | None, *, create: bool
) -> int:
    """Reset groups by a form. A note says which moment (ms since the epoch) is meant, if one is: a time without a zone
    is a different time for each reader."""
    if moment is not None:
        say(options, f"to {utc(moment)}")
    return changes.run(
        options,
        SHAPE,
        lambda at, _: plans.by_form(at, groups, scope, prepare, create=create),
        by_pattern=bool(groups.patterns),
    )
