"""What `kcli apply` and `kcli diff` have in common: their rows, --prune, and what they say about a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.output.tables.rows import Row, column
from kcli.cli.parsing.option import Options
from kcli.cli.runtime.answer import plural, say

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.changes.declared.plan import ClusterPlan
    from kcli.cli.parsing.groups import QuietOptions


class ChangeRow(Row, section="changes"):
    change: str = column("+ is created, ~ is changed, - is deleted.", unit="word", rank=1)
    kind: str = column("topic, broker, group, client-metrics, user, quota, acl or schema.", unit="word")
    name: str = column("Name of the resource; for a quota or an ACL, its principal or entity.", rank=1)
    config: str = column(
        "The changed part: a config, partitions, replication, records, a mechanism, an ACL, a schema.", rank=1
    )
    old: str | None = column("Previous value; null if there was no value, *** for a secret.", rank=1, width=10)
    new: str | None = column("New value.", rank=1, width=10)
    result: str = column(
        "would create, would change, would delete; created, changed, deleted; refused, failed, unknown.",
        unit="word",
        rank=1,
    )
    file: str | None = column("File and line that declare it; null if no file does.", table=False)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


class PruneOptions(Options):
    """Whether what is not declared is removed."""

    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            help="Also remove resources that the files declare absent, and those in their scope that no file names.",
        ),
    ] = False


def remark(options: QuietOptions, plan: ClusterPlan) -> None:
    """Say what a plan could not see, and what it leaves."""
    for warning in dict.fromkeys(plan.secrets.warnings):
        say(options, warning)
    if plan.kept:
        say(options, f"not removed: {plural(plan.kept, 'resource')} declared absent; --prune removes them")
