"""Changes of client quotas: limits of users, client ids and addresses are set or removed."""

from __future__ import annotations

from kcli.admin.quotas import KEYS, Entity, alter_quotas, describe_quotas, entity, text_of
from kcli.changes.change import Plan, Row, Undo
from kcli.values import field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.model import Cluster
    from kcli.text.json_object import JsonObject

    Limits = Mapping[Entity, Mapping[str, float | None]]
    """The new limit of each quota of an entity, None to remove it."""

SCHEMA = "kcli.quotas.undo/1"
"""Schema of the undo document."""


class QuotaRow(Row):
    """A limit: `item` is its name. `old_value` and `new_value` are Kafka's numbers."""

    entity: Entity = field()
    old_value: float | None = None
    new_value: float | None = None

    def as_json(self) -> dict[str, object]:
        at = self.entity
        names = {"entity": str(at), "user": at.user, "client_id": at.client_id, "ip": at.ip, "defaults": at.defaults}
        limits = {"old": self.old, "new": self.new, "old_value": self.old_value, "new_value": self.new_value}
        return {**names, "quota": self.item, **limits, "result": self.result}


async def plan(cluster: Cluster, changes: Limits) -> Plan:
    """Return the plan for `changes`, validated by the controller: a row for each limit, in order. An entity that the
    controller rejects fails as a whole; limits that are already in force are not sent."""
    before = await describe_quotas(cluster)
    checked = await alter_quotas(cluster, changes, dry_run=True)
    rows: list[QuotaRow] = []
    for at, limits in changes.items():
        for key, new in limits.items():
            old = before.get(at, {}).get(key)
            name = next((name for name in at.names.values() if name is not None), "default")
            row = QuotaRow(entity=at, about=str(at), name=name, item=key, old_value=old, new_value=new)
            row.old, row.new = (None if value is None else text_of(key, value) for value in (old, new))
            row.settle(checked[at], unchanged=old == new)
            rows.append(row)
    open_rows = [row for row in rows if row.is_open]
    made = Plan(rows=list(rows))
    if not open_rows:
        return made
    ready: dict[Entity, dict[str, float | None]] = {}
    for row in open_rows:
        ready.setdefault(row.entity, {})[row.item] = row.new_value

    async def apply(cluster: Cluster) -> None:
        done = await alter_quotas(cluster, ready)
        for row in open_rows:
            row.settle(done[row.entity])

    was = [{"entity": row.entity.names, "quota": row.item, "value": row.old_value} for row in open_rows]
    made.apply, made.undo = apply, Undo(document={"schema": SCHEMA, "quotas": was}, file="quotas")
    return made


def read_undo(document: JsonObject) -> dict[Entity, dict[str, float | None]]:
    """Return the changes that restore an undo document. Raises ValueError."""
    changes: dict[Entity, dict[str, float | None]] = {}
    for row in document.objects("quotas"):
        key = row.text("quota")
        if key not in KEYS:
            raise ValueError(f"unknown quota {key}; quotas are {', '.join(KEYS)}")
        changes.setdefault(entity(row.texts_or_nulls("entity")), {})[key] = row.number_or_null("value")
    return changes
