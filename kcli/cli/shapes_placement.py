"""What `quotas`, `leaders` and `reassign` print: see shapes.py."""

from __future__ import annotations

from kcli.cli.shapes import ERROR, Section, Shape, column

_QUOTA = column("quota", "string", "producer_byte_rate, consumer_byte_rate, request_percentage, …")
_LIMIT = column("limit", "string", "The limit with its unit.", null=True)
_VALUE = column("value", "number", "The limit as Kafka has it.", null=True, table=False)
_WHO = (
    column("entity", "string", "Who it is for; <default> is everybody without a quota of his own."),
    column("user", "string", "The user; null for none or the default.", null=True, table=False),
    column("client_id", "string", "The client.id; null for none or the default.", null=True, table=False),
    column("ip", "string", "The address; null for none or the default.", null=True, table=False),
    column("defaults", "strings", "Which of user, client-id, ip is the default.", table=False),
)

SHAPES: tuple[Shape, ...] = (
    *(
        Shape(
            name=f"quotas.{verb}",
            about="Quotas that are set, one a row.",
            sections=(Section(name="quotas", columns=(*_WHO, _QUOTA, _LIMIT, _VALUE)),),
        )
        for verb in ("list", "describe")
    ),
    *(
        Shape(
            name=f"quotas.{verb}",
            about="Quotas that were changed, or would be.",
            sections=(
                Section(
                    name="quotas",
                    columns=(
                        *_WHO,
                        _QUOTA,
                        column("old", "string", "The limit before; null for none.", null=True),
                        column("new", "string", "The limit after; null for none.", null=True),
                        column("old_value", "number", "The limit before, as Kafka has it.", null=True, table=False),
                        column("new_value", "number", "The limit after, as Kafka has it.", null=True, table=False),
                        column("result", "string", "would change, unchanged, done or failed."),
                        ERROR,
                    ),
                ),
            ),
        )
        for verb in ("alter", "restore")
    ),
    Shape(
        name="quotas.resolve",
        about="Which quotas are in force for a client, and where they stand.",
        sections=(
            Section(
                name="ladder",
                columns=(
                    _QUOTA,
                    column("rank", "integer", "Place in Kafka's order; the first with a value is in force."),
                    *_WHO,
                    _LIMIT,
                    _VALUE,
                    column("in_force", "boolean", "Whether it is the one in force."),
                ),
            ),
            Section(
                name="quotas",
                columns=(
                    _QUOTA,
                    _LIMIT.replace(null=False),
                    _VALUE,
                    column("set_for", "string", "The entity it is set for; null when there is no limit.", null=True),
                    column("shared_by", "string", "Whose traffic counts together at a broker.", null=True),
                ),
            ),
        ),
    ),
)
