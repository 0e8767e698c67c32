"""What `kcli acls`, `users` and `tokens` print: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.shape import ERROR, NOTE, Section, Shape, column

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
_TOKEN = (
    column("token_id", "string", "Id of the delegation token: the user name to authenticate with."),
    column("owner", "string", "Whose token it is: who has it is this principal."),
)
_TOKEN_TIMES = (
    column("issued", "string", "When it was made, UTC.", null=True, table=False),
    column("expires", "string", "When it ends unless it is renewed, UTC.", null=True),
    column("max_time", "string", "When it ends for good, UTC.", null=True),
)
_REQUESTER = column("requester", "string", "Who asked for it; null from brokers before 3.3.", null=True, table=False)
_RENEWERS = column("renewers", "strings", "Who may renew it, beside its owner.")

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
    Shape(
        name="tokens.list",
        about="Delegation tokens, one a row; never what proves them.",
        sections=(Section(name="tokens", columns=(*_TOKEN, *_TOKEN_TIMES, _REQUESTER, _RENEWERS)),),
    ),
    Shape(
        name="tokens.create",
        about="A new delegation token: the only time that its HMAC, which is the password, is printed.",
        sections=(
            Section(
                name="tokens",
                columns=(
                    *_TOKEN,
                    column("hmac", "string", "The password; null when it went to a file.", null=True, sparse=True),
                    *_TOKEN_TIMES,
                    _REQUESTER,
                    _RENEWERS,
                ),
            ),
        ),
    ),
    *(
        Shape(
            name=f"tokens.{verb}",
            about="Delegation tokens whose end was changed, or would be.",
            sections=(
                Section(
                    name="tokens",
                    columns=(
                        *_TOKEN,
                        column("old", "string", "When it would have ended, UTC.", null=True),
                        column("new", "string", "When it ends, UTC; null before it is done.", null=True),
                        column("result", "string", result),
                        NOTE.replace(sparse=True),
                        ERROR.replace(about="Why it was not done; null when it was, or will be."),
                    ),
                ),
            ),
        )
        for verb, result in (
            ("renew", "would renew, renewed or failed."),
            ("expire", "would expire, expires (later), expired, absent or failed."),
        )
    ),
)
