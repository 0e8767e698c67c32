"""What `kcli acls`, `users` and `tokens` print: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.shape import ERROR, Section, Shape, column

_PRINCIPAL = column("principal", "string", "Who: User:bob; User:* is everybody.")
_HOST = column("host", "string", "From which address; * is any.")
_ACL = (
    column("kind", "string", "topic, group, cluster, transactional-id, delegation-token or user."),
    column("name", "string", "Name of the resource, or how names begin; * is all."),
    column("pattern", "string", "literal or prefixed."),
    _PRINCIPAL,
    _HOST,
    column("operation", "string", "read, write, create, delete, alter, describe, all, …"),
    column("permission", "string", "allow or deny."),
)

SHAPES: tuple[Shape, ...] = (
    Shape(
        name="acls.list",
        about="ACLs, one a row; `kcli acls add --from` reads them.",
        sections=(Section(name="acls", columns=_ACL),),
    ),
    *(
        Shape(
            name=f"acls.{verb}",
            about="ACLs that were added or removed, or would be.",
            sections=(
                Section(
                    name="acls",
                    columns=(
                        *_ACL,
                        column(
                            "result",
                            "string",
                            "would add, added, exists, would remove, removed, absent or failed.",
                        ),
                        ERROR.replace(about="Why it was not done; null when it was, or will be."),
                    ),
                ),
            ),
        )
        for verb in ("add", "remove", "restore")
    ),
    Shape(
        name="acls.who-can",
        about="Who may and who may not, one a row.",
        sections=(
            Section(
                name="verdicts",
                columns=(
                    _PRINCIPAL.replace(about="Who; User:* is everybody who has no row of their own."),
                    _HOST.replace(about="From which address; * is any that has no row of its own."),
                    column("allowed", "boolean", "Whether it may."),
                    column("because", "string", "The ACL that decides, or what else does."),
                ),
            ),
        ),
    ),
)
