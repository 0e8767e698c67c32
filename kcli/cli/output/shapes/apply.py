"""What `kcli apply` and `kcli diff` print: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.shape import ERROR, Section, Shape, column

_PLAN = (
    column("change", "string", "+ is made, ~ is changed, - goes."),
    column("kind", "string", "topic, broker, group, client-metrics, user, quota or acl."),
    column("name", "string", "What it is called; of a quota or an ACL, who it is for."),
    column("config", "string", "What changes of it: a config, partitions, replication, records, a mechanism, an ACL."),
    column("old", "string", "Its value before; null when there is none, *** for a secret.", null=True),
    column("new", "string", "Its value after.", null=True),
    column("result", "string", "would create, would change, would delete; created, changed, deleted; refused, failed."),
    column(
        "file", "string", "Where it is declared, with the line; null when it is in no file.", null=True, table=False
    ),
    ERROR,
)

SHAPES: tuple[Shape, ...] = (
    Shape(
        name="apply",
        about="What was done for a cluster to be as it is declared, or would be.",
        sections=(Section(name="changes", columns=_PLAN),),
    ),
    Shape(
        name="diff",
        about="What differs between a cluster and what is declared.",
        sections=(Section(name="changes", columns=_PLAN),),
    ),
)
