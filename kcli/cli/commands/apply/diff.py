"""`kcli diff`: what `kcli apply` would change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes.change import FAILED, UNKNOWN
from kcli.changes.declared.plan import ClusterPlan
from kcli.cli.commands.apply.files import read
from kcli.cli.commands.apply.opened import SchemasOptions, both
from kcli.cli.commands.apply.rows import ChangeRow, PruneOptions, remark
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.cli.runtime.change import show

if TYPE_CHECKING:
    from kcli.cli.commands.apply.opened import Both

DIFFERS = 3
SHAPE = shape("diff", "Differences between a cluster and its declaration.", ChangeRow, empty="no differences")


class DiffOptions(PruneOptions, SchemasOptions, ReadOptions):
    """Whether what is not declared counts."""


@command(
    "diff",
    words="FILE",
    examples="""
kcli diff cluster.yaml
kcli diff topics/ --prune                      # also resources that no file declares
kcli diff cluster.yaml -J | jq '.changes[].name'""",
)
def diff(options: DiffOptions) -> int:
    """Print how a cluster differs from its declaration in files. Exit code 3 if it differs, 0 if not.

    A FILE is YAML, TOML or JSON, a folder of such files, or - for stdin; `kcli schema apply file` prints its
    schema.
    """
    declared = read(options.words)

    async def work(target: Both, document: Document) -> int | None:
        cluster, registry = target
        plan = ClusterPlan(cluster=cluster, declared=declared, prune=options.prune, registry=registry)
        await plan.compare()
        remark(options, plan)
        show(document, (ChangeRow,), plan)
        lost = plan.failed or any(row.result in (FAILED, UNKNOWN) for row in plan.rows)
        return 1 if lost else DIFFERS if plan.steps else None

    return answer(options, SHAPE, work, opened=both(options))
