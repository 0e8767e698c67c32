"""`kcli quotas`: what is set, what is in force, and changes with a plan that the controller checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.quotas.quotas import (
    ANY,
    CLIENT,
    EXACT,
    IP,
    IS_DEFAULT,
    KINDS,
    USER,
    Component,
    Entity,
    alter_quotas,
    describe_quotas,
    entity,
    text_of,
    value_of,
)
from kcli.admin.quotas.rules import resolve as resolved
from kcli.cli.commands.quotas import undo as quotas_undo
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, confirm, excluding, plural, say
from kcli.cli.runtime.undo import UndoFile
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.admin.quotas.quotas import Quotas
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

Changes = dict[Entity, dict[str, float | None]]

OPTIONS = {USER: ("user", "user_default"), CLIENT: ("client", "client_default"), IP: ("ip", "ip_default")}
NOBODY = "ANONYMOUS"  # who speaks on a listener without authentication


def describe(values: Values) -> int:
    """`kcli quotas list` and `kcli quotas describe`."""
    known = {kind: name for kind, name in _named(values).items() if kind not in values.get("any", ())}
    components = [
        Component(kind=kind, match=IS_DEFAULT if name is None else EXACT, name=name) for kind, name in known.items()
    ]
    components += [Component(kind=kind, match=ANY) for kind in dict.fromkeys(values.get("any", ()))]
    if values.get("strict") and not components:
        raise UsageError("--strict goes with --user, --client-id, --ip or --any")

    async def work(cluster: Cluster, document: Document) -> None:
        found = await describe_quotas(cluster, components, strict=values.get("strict", False))
        document.rows["quotas"] = [
            {**_who(at), "quota": key, "limit": text_of(key, value), "value": value}
            for at, limits in found.items()
            for key, value in limits.items()
        ]

    return answer(values, "quotas.describe" if "any" in values else "quotas.list", work)


def resolve(values: Values) -> int:
    """`kcli quotas resolve`."""
    user, client, ip = values["user"], values["client"], values["ip"]
    if user is None and client is None and ip is None:
        raise UsageError("for whom? --user USER --client-id CLIENT, --ip ADDRESS")

    async def work(cluster: Cluster, document: Document) -> None:
        quotas = await describe_quotas(cluster)
        found = resolved(quotas, user=user or NOBODY, client=client or "", ip=ip)
        document.rows["ladder"] = [
            {
                "quota": one.key,
                "rank": rung.rank,
                **_who(rung.entity),
                "limit": None if rung.value is None else text_of(one.key, rung.value),
                "value": rung.value,
                "in_force": rung.used,
            }
            for one in found
            for rung in one.ladder
            if rung.value is not None or values["all"]
        ]
        document.rows["quotas"] = [
            {
                "quota": one.key,
                "limit": "no limit" if one.value is None else text_of(one.key, one.value),
                "value": one.value,
                "set_for": next((str(rung.entity) for rung in one.ladder if rung.used), None),
                "shared_by": one.shared or None,
            }
            for one in found
        ]

    return answer(values, "quotas.resolve", work)


def alter(values: Values) -> int:
    """`kcli quotas alter`."""
    at = entity(_named(values))
    limits: dict[str, float | None] = {}
    for pair in values["words"]:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"{pair}: expected QUOTA=VALUE, such as producer_byte_rate=10MiB")
        _once(limits, key.strip(), value_of(key.strip(), text))
    for key in values["remove"]:
        value_of(key, "0")
        _once(limits, key, None)
    if not limits:
        raise UsageError("what shall change? QUOTA=VALUE, --delete QUOTA")
    return _change(values, "quotas.alter", {at: limits})


def _once(limits: dict[str, float | None], key: str, value: float | None) -> None:
    if key in limits:
        raise UsageError(f"{key}: named twice")
    limits[key] = value


def restore(values: Values) -> int:
    """`kcli quotas restore FILE`."""
    if len(values["words"]) != 1:
        raise UsageError("from which file? kcli quotas restore FILE")
    return _change(values, "quotas.restore", quotas_undo.read(values["words"][0]))


def _change(values: Values, name: str, changes: Changes) -> int:
    """The plan with old and new, checked by the controller; then, if it may be, the change."""
    excluding(values)
    UndoFile(values).check()

    async def work(cluster: Cluster, document: Document) -> int | None:
        before = await describe_quotas(cluster)
        checked = await alter_quotas(cluster, changes, dry_run=True)
        rows = document.rows["quotas"] = _plan(changes, before, checked)
        for at, problem in checked.items():
            if problem is not None:
                document.fail(problem, str(at))
        ready = {
            at: limits
            for at, limits in changes.items()
            if checked[at] is None and any(before.get(at, {}).get(key) != value for key, value in limits.items())
        }
        if values["dry_run"] or not ready:
            return None
        if not confirm(values, document, _phrase(ready)):
            document.rows.clear()
            return 1
        await quotas_undo.keep(
            values, cluster, [(at, key, before.get(at, {}).get(key)) for at, limits in ready.items() for key in limits]
        )
        done = await alter_quotas(cluster, ready)
        said = {str(at): problem for at, problem in done.items()}
        for row in rows:
            if row["entity"] in said and row["result"] == "would change":
                problem = said[row["entity"]]
                row["result"], row["error"] = ("done", None) if problem is None else ("failed", str(problem))
        for at, problem in done.items():
            if problem is not None:
                document.fail(problem, str(at))
        say(values, f"quotas: {sum(row['result'] == 'done' for row in rows)} changed")
        return None

    return answer(values, name, work)


def _phrase(changes: Changes) -> str:
    """What a person types to have it done."""
    if len(changes) > 1:
        return f"alter {plural(len(changes), 'entity').replace('entitys', 'entities')}"
    (at,) = changes
    return next((name for name in at.names.values() if name is not None), "default")


def _plan(changes: Changes, before: Quotas, checked: dict[Entity, KcliError | None]) -> list[Row]:
    rows = []
    for at, limits in changes.items():
        problem = checked[at]
        for key, new in limits.items():
            old = before.get(at, {}).get(key)
            result = "unchanged" if old == new else "would change"
            rows.append(
                {
                    **_who(at),
                    "quota": key,
                    "old": None if old is None else text_of(key, old),
                    "new": None if new is None else text_of(key, new),
                    "old_value": old,
                    "new_value": new,
                    "result": result if problem is None else "failed",
                    "error": None if problem is None else str(problem),
                }
            )
    return rows


def _who(at: Entity) -> Row:
    """The columns that say whose a quota is."""
    names = at.names
    return {
        "entity": str(at),
        "user": names.get(USER),
        "client_id": names.get(CLIENT),
        "ip": names.get(IP),
        "defaults": [kind for kind, name in at.parts if name is None],
    }


def _named(values: Values) -> dict[str, str | None]:
    """Who the options name, by kind. Raises UsageError for a name and its default at once."""
    found: dict[str, str | None] = {}
    for kind in KINDS:
        name, default = (values.get(option) for option in OPTIONS[kind])
        if name is not None and default:
            raise UsageError(f"--{kind} and --{kind}-default exclude each other")
        if name is not None or default:
            found[kind] = name
    for kind in values.get("any", ()):
        if kind not in KINDS:
            raise UsageError(f"--any {kind}: quotas are for a {', a '.join(KINDS)}")
        if kind in found:
            raise UsageError(f"--any {kind} and --{kind} exclude each other")
    return found
