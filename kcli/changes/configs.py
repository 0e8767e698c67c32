"""Changes of configs of topics, brokers, loggers, groups and client metrics."""

from __future__ import annotations

from kcli.admin.configs import (
    DELETE,
    SET,
    Operation,
    Resource,
    about,
    alter_configs,
    describe_configs,
    foreseen,
    own,
    resource,
)
from kcli.changes.change import Plan, Row, Undo
from kcli.declared.reading import plain
from kcli.errors import KcliError, UsageError
from kcli.redact import HIDDEN
from kcli.secret import secretive
from kcli.text.suggest import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from kcli.admin.configs import Config
    from kcli.model import Cluster
    from kcli.text.json_object import JsonObject

    Changes = Mapping[Resource, list[Operation]]
    Known = Mapping[Resource, list[Config] | KcliError]
    Outcomes = dict[Resource, KcliError | None]
    Alter = Callable[[Cluster, Changes], Awaitable[Outcomes]]

SCHEMA = "kcli.configs.undo/1"
"""Schema of the undo document."""
DEFAULT = "default"
"""Name of a resource without one: the configs of all brokers, as in kafka-configs."""
SURE = 0.85
"""Similarity from which an unknown name counts as a typo: a plugin may have configs with any name."""


async def plan(
    cluster: Cluster, changes: Changes, *, resend: bool = False, kind: type[Row] = Row, alter: Alter | None = None
) -> Plan:
    """Return the plan for `changes`, validated by the brokers: a row for each operation, in order.

    A resource that a broker rejects, or whose configs cannot be read, fails as a whole; its other operations are not
    sent. `resend`: values that are already in force are sent, too, because brokers may report them late. `kind` is the
    class of the rows, `alter` replaces alter_configs.
    """
    known = await describe_configs(cluster, changes)
    checked = await check(cluster, changes, known)
    open_names = await _not_secret(cluster, changes, known)
    rows = {
        at: [
            _row(kind, at, operation, _named(known[at], operation.name), checked[at], open_names)
            for operation in operations
        ]
        for at, operations in changes.items()
    }
    ready = {at: operations for at, operations in changes.items() if checked[at] is None}
    made = Plan(rows=[row for some in rows.values() for row in some])
    made.undo, made.warnings = undo_of(ready, known)
    if not ready or (made.idle and not resend):
        return made

    async def apply(cluster: Cluster) -> None:
        for at, error in (await (alter or alter_configs)(cluster, ready)).items():
            for row in rows[at]:
                row.settle(error)

    made.apply = apply
    return made


def pair(text: str, flag: str = "") -> tuple[str, str]:
    """Parse `retention.ms=7d` into name and value, the value in Kafka's form: 604800000. Raises UsageError."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not name:
        raise UsageError(f"{flag + ' ' if flag else ''}{text}: expected KEY=VALUE, such as retention.ms=7d")
    return name, plain(name, value)


def once(operations: list[Operation]) -> list[Operation]:
    """Return the operations. Raises UsageError for a config that is listed twice."""
    names = [operation.name for operation in operations]
    if twice := {name for name in names if names.count(name) > 1}:
        raise UsageError(f"{', '.join(sorted(twice))}: given twice")
    return operations


async def check(cluster: Cluster, changes: Changes, known: Known) -> Outcomes:
    """Return the error of each resource that cannot be changed, None for the others: the broker's validation, or a
    probable typo in a name, which brokers accept as a custom config."""
    answers = await alter_configs(cluster, changes, dry_run=True)
    for at, operations in changes.items():
        configs = known[at]
        if isinstance(configs, KcliError):
            answers[at] = configs
        else:
            answers[at] = await _spelt(cluster, at, operations, {config.name for config in configs}, answers[at])
    return {at: answers[at] for at in changes}


async def _spelt(
    cluster: Cluster, at: Resource, operations: list[Operation], names: set[str], answer: KcliError | None
) -> KcliError | None:
    unknown = [one.name for one in operations if one.name not in names]
    if unknown and at == ("broker", ""):  # it only lists what was set
        names |= await names_of(cluster, [Resource("broker", str(node.id)) for node in await cluster.nodes()][:1])
    for name in unknown:
        if name in names or name.startswith("listener.name."):
            continue
        hint = did_you_mean(name, names, SURE)
        if answer is not None:
            add_hint(answer, hint or did_you_mean(name, names))
        elif hint and at.kind != "logger":
            answer = KcliError(f"{about(at)} has no config {name}{hint}")
    return answer


async def nearest(cluster: Cluster, at: Resource, name: str) -> str:
    """Return "; did you mean …?" for a config that a resource does not have, "" if it has it or that is unknown."""
    names = await names_of(cluster, [at])
    return "" if name in names else did_you_mean(name, names, SURE) or did_you_mean(name, names)


def add_hint(problem: KcliError, hint: str) -> None:
    """Append a hint to the message of an error."""
    problem.args = (f"{problem.args[0]}{hint}",)


async def names_of(cluster: Cluster, resources: list[Resource]) -> set[str]:
    """Return the names of all configs of these resources."""
    answers = (await describe_configs(cluster, resources)).values()
    return {config.name for configs in answers if isinstance(configs, list) for config in configs}


def _named(configs: list[Config] | KcliError, name: str) -> Config | None:
    return None if isinstance(configs, KcliError) else next((one for one in configs if one.name == name), None)


async def _not_secret(cluster: Cluster, changes: Changes, known: Known) -> set[str]:
    """Return the names that a broker reports as not secret, if the configs of all brokers are changed, which list only
    what was set."""
    at = Resource("broker", "")
    if all(_named(known[at], operation.name) is not None for operation in changes.get(at, ())):
        return set()
    some = [Resource("broker", str(node.id)) for node in await cluster.nodes()][:1]
    found = (await describe_configs(cluster, some)).values()
    return {config.name for configs in found if isinstance(configs, list) for config in configs if not config.secret}


def _row(
    kind: type[Row],
    at: Resource,
    operation: Operation,
    old: Config | None,
    error: KcliError | None,
    open_names: Collection[str],
) -> Row:
    new, same = foreseen(at, operation, old)
    # a config that the broker does not know counts as a secret, because a plugin's password may be one
    unknown = at.kind == "broker" and operation.name not in open_names
    secret = old.secret if old is not None else secretive(operation.name) or unknown
    row = kind(kind=at.kind, name=at.name or DEFAULT, item=operation.name, about=about(at))
    row.old = HIDDEN if old is not None and secret else None if old is None else old.value
    row.new = HIDDEN if secret and operation.how == SET else new
    row.settle(error, unchanged=same)
    return row


# -- undo -------------------------------------------------------------------------------------------------------------


def undo_of(changes: Changes, known: Known) -> tuple[Undo | None, list[str]]:
    """Return the configs set on the resources themselves, null for inherited ones, and a warning for each secret, which
    cannot be restored because brokers do not report it."""
    rows: list[dict[str, str | None]] = []
    lost: list[str] = []
    for at, operations in changes.items():
        for name in (operation.name for operation in operations):
            was = _named(known[at], name)
            mine = was is not None and own(at, was)
            if mine and was is not None and was.secret:
                lost.append(f"{about(at)}: the previous value of {name} is secret and cannot be restored")
                continue
            value = was.value if mine and was is not None else None
            rows.append({"kind": at.kind, "name": at.name, "config": name, "value": value})
    name = "-".join(sorted({f"{row['kind']}-{row['name'] or DEFAULT}" for row in rows}))
    return (Undo(document={"schema": SCHEMA, "configs": rows}, file=name) if rows else None), lost


def read_undo(document: JsonObject) -> dict[Resource, list[Operation]]:
    """Return the changes that restore the state saved by `undo_of`. Raises ValueError."""
    changes: dict[Resource, list[Operation]] = {}
    for row in document.objects("configs"):
        value = row.text_or_null("value")
        operation = Operation(name=row.text("config"), how=DELETE if value is None else SET, value=value)
        changes.setdefault(resource(row.text("kind"), row.text("name")), []).append(operation)
    return changes
