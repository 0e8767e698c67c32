"""Changes of a cluster as a whole: feature levels, quorum voters, and unregistering lost brokers."""

from __future__ import annotations

from kcli.admin.cluster import brokers as looked
from kcli.admin.cluster.changes import (
    SAFE_DOWNGRADE,
    UNSAFE_DOWNGRADE,
    UPGRADE,
    Controller,
    add_voter,
    controllers,
    remove_voter,
    unregister_broker,
    unregister_controller,
    update_features,
)
from kcli.admin.cluster.quorum import Feature, features
from kcli.admin.topics.topics import Topic, describe_topics, id_text
from kcli.changes.change import UNCHANGED, Plan, Row, settled
from kcli.errors import KcliError
from kcli.text.suggest import did_you_mean
from kcli.values import field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from kcli.model import Cluster

HOW = {UPGRADE: "upgrade", SAFE_DOWNGRADE: "downgrade", UNSAFE_DOWNGRADE: "unsafe downgrade"}


class FeatureRow(Row):
    """The level of the feature `name`; 0 is off. `how` is that of `update_features`, 0 if nothing is sent."""

    old: int | None = None
    new: int | None = None
    how: int = 0
    columns = "feature=name old new action old_version new_version result".split()

    @property
    def old_version(self) -> str | None:
        return looked.level_name(self.name, self.old)

    @property
    def new_version(self) -> str | None:
        return looked.level_name(self.name, self.new)

    @property
    def action(self) -> str | None:
        return HOW.get(self.how)


async def plan_features(
    cluster: Cluster, wanted: Mapping[str, int | None], *, verb: str = "set", unsafe: bool = False
) -> Plan:
    """Return the plan for feature levels, validated by the controller. A level of None means the highest; without
    `wanted` all features are included. `verb` is set, upgrade or downgrade. Brokers change all of them or none."""
    known = {feature.name: feature for feature in await features(cluster)}
    rows = [_level(verb, name, level, known, unsafe) for name, level in (wanted or dict.fromkeys(known)).items()]
    made = Plan(rows=list(rows))
    open_rows = [row for row in rows if row.is_open]
    changes = {row.name: (row.new or 0, row.how) for row in open_rows}

    async def send(cluster: Cluster, *, dry_run: bool) -> None:
        outcomes = await update_features(cluster, changes, dry_run=dry_run)
        same: dict[str, KcliError] = {}  # an error applies to all of them
        for row in open_rows:
            problem = outcomes[row.name]
            shown = problem and same.setdefault(str(problem), problem)
            row.settle(shown, unchanged=False if dry_run else None)

    async def apply(cluster: Cluster) -> None:
        await send(cluster, dry_run=False)

    if any(row.error for row in rows) or not open_rows:
        return made
    await send(cluster, dry_run=True)
    if not any(row.error for row in rows):
        made.apply = apply
    return made


def _level(verb: str, name: str, level: int | None, known: Mapping[str, Feature], unsafe: bool) -> FeatureRow:
    row = FeatureRow(name=name, about="features", new=level)
    if name not in known:
        nearest = did_you_mean(name, known) or "; known: " + ", ".join(known)
        row.about = name
        row.settle(KcliError(f"unknown feature {name}{nearest}"))
        return row
    old = row.old = known[name].level or 0
    new = row.new = known[name].highest if level is None else level
    if new == old or (level is None and new < old):
        row.new, row.result = old, UNCHANGED
        return row
    how = UPGRADE if new > old else UNSAFE_DOWNGRADE if unsafe else SAFE_DOWNGRADE
    if verb != "set" and (verb == "upgrade") != (how == UPGRADE):
        row.about = name
        row.settle(KcliError(f"cannot {verb} {name} to {new}: it is at {old}"))
        return row
    row.how = how
    return row


class VoterRow(Row):
    """A controller that becomes a voter, or stops being one."""

    voter: Controller = field()

    def as_json(self) -> dict[str, object]:
        return {**controller(self.voter), "old": self.old, "new": self.new, "result": self.result}


def controller(voter: Controller) -> dict[str, Any]:
    """Return a controller in the form of rows."""
    listeners = [f"{name}://{at.host}:{at.port}" for name, at in voter.listeners]
    return {"node": voter.node, "directory_id": id_text(voter.directory) or None, "listeners": listeners}


def plan_vote(voter: Controller, *, adds: bool) -> Plan:
    """Return the plan that adds a voter, or removes it."""
    row = VoterRow(voter=voter, name=str(voter.node), about=f"controller {voter.node}")
    row.old, row.new = ("observer", "voter") if adds else ("voter", "observer")

    async def apply(cluster: Cluster) -> None:
        await settled([row], (add_voter if adds else remove_voter)(cluster, voter))

    return Plan(rows=[row], apply=apply)


class BrokerRow(Row):
    """A broker to unregister, None if the cluster does not know it; `replicas` are still assigned to it."""

    node: int = -1
    broker: looked.BrokerRow | None = None
    replicas: int = 0
    result: str = "would unregister"
    columns = "broker=node host=broker.node.host port=broker.node.port state replicas result".split()

    @property
    def state(self) -> str | None:
        return None if self.broker is None else "fenced" if self.broker.fenced else "up"


async def plan_unregister(cluster: Cluster, ids: Iterable[int], *, force: bool = False) -> Plan:
    """Return the plan that unregisters brokers. Without `force`, a running broker fails and the others are
    unregistered."""
    brokers = {one.node.id: one for one in await looked.list_brokers(cluster, figures=False)}
    topics = [topic for topic in (await describe_topics(cluster, None)).values() if isinstance(topic, Topic)]
    parts = [part for topic in topics for part in topic.partitions]
    rows = []
    for number in ids:
        name = f"broker {number}"
        row = BrokerRow(name=name, about=name, node=number, broker=brokers.get(number))
        row.replicas = sum(number in part.replicas for part in parts)
        if row.state is None:
            row.settle(KcliError(f"unknown broker {number}; known: {', '.join(map(str, sorted(brokers)))}"))
        elif row.state == "up" and not force:
            up = KcliError(f"broker {number} is up: stop it first, or it keeps running without a registration")
            row.settle(up.hinted("force-unregister"))
        rows.append(row)
    made = Plan(rows=list(rows))

    async def apply(cluster: Cluster) -> None:
        for row in rows:
            if row.is_open:
                await settled([row], unregister_broker(cluster, row.node))

    made.apply = None if made.idle else apply
    return made


class UnregisteredRow(Row):
    """A controller to unregister; `state` is its role in the quorum, None without a role."""

    node: int = -1
    state: str | None = None
    replicas: int = 0
    result: str = "would unregister"
    columns = "broker=node state replicas result".split()


async def plan_unregister_controllers(cluster: Cluster, ids: Iterable[int], *, force: bool = False) -> Plan:
    """Return the plan that unregisters controllers (Kafka 4.4). Without `force`, one that is part of the quorum fails
    and the others are unregistered."""
    roles = {one.node: "leader" if one.leader else "voter" for one in await controllers(cluster) if one.voter}
    rows = []
    for number in ids:
        name = f"controller {number}"
        row = UnregisteredRow(name=name, about=name, node=number, state=roles.get(number))
        if row.state is not None and not force:
            votes = KcliError(f"{name} is a voter of the quorum: remove its vote and stop it first")
            row.settle(votes.hinted("force-unregister"))
        rows.append(row)

    async def apply(cluster: Cluster) -> None:
        for row in rows:
            if row.is_open:
                await settled([row], unregister_controller(cluster, row.node))

    made = Plan(rows=list(rows))
    made.apply = None if made.idle else apply
    return made
