"""`kcli groups clone`."""

from __future__ import annotations

from kcli.cli.commands.groups.changes import ChangeRow
from kcli.cli.commands.groups.reset.reset import copy_to
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedGroups, PatternOptions, UndoOptions
from kcli.cli.runtime.names import names_of
from kcli.errors import UsageError
from kcli.text.names import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.parsing.shared import ScopeTopics

SHAPE = shape("groups.clone", "Committed offsets copied from another group, or to be copied.", ChangeRow)


class CloneOptions(NamedGroups, PatternOptions, UndoOptions):
    topics: ScopeTopics


@command(
    "groups clone",
    help="Copy the committed offsets of a group to another.",
    words="SOURCE TARGET",
    examples="""
kcli groups clone billing billing-2                              # the plan
kcli groups clone billing billing-2 -t orders --execute""",
)
def clone(options: CloneOptions) -> int:
    """Copy the committed offsets of SOURCE to TARGET, with leader epochs and metadata. SOURCE may have members;
    TARGET must have none, and need not exist. Other commits of TARGET stay."""
    scope = Scope(options.topics, literal=options.literal)
    if len(options.words) != 2:
        raise UsageError("missing arguments: kcli groups clone SOURCE TARGET")
    source, target = options.words
    if source == target:
        raise UsageError(f"{source} is the same group: give another TARGET")
    return copy_to(options, SHAPE, names_of(options, [source]), Names([target], literal=True), scope, create=True)
