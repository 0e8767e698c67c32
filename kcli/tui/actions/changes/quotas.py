"""Changes of quotas: set a limit of an entity, remove those of marked rows. The journal keeps what was set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.quotas.quotas import KEYS, Entity, entity, text_of, value_of
from kcli.changes import quotas
from kcli.errors import KcliError, UsageError
from kcli.tui.actions.changes.change import Ask, Change, Plan, shown
from kcli.tui.actions.changes.several import word_of
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.changes.change import Row
    from kcli.client import Client
    from kcli.tui.actions.changes.change import Given


def options(at: Entity) -> str:
    """The options with which `kcli quotas alter` names an entity."""
    return " ".join(f"--{kind}-default" if name is None else f"--{kind} {quoted(name)}" for kind, name in at.parts)


def name_of(at: Entity) -> str:
    """What has to be typed for a change of an entity: its first name, or `default`."""
    return next((name for _, name in at.parts if name is not None), "default")


def _what(row: Row) -> str:
    return f"{row.about} {row.item}"


class SetQuota(Change):
    """A limit of an entity; without one, of a user."""

    def __init__(self, at: Entity | None = None, key: str = "", value: float | None = None) -> None:
        self.at = at
        self.word = name_of(at) if at is not None else ""
        self.title = f"Set a quota of {printable(str(at))}" if at is not None else "Set a quota of a user"
        self.asks = (
            *((Ask("user", "user", "as the broker names the principal"),) if at is None else ()),
            Ask("quota", "quota", ", ".join(KEYS), key),
            Ask("limit", "limit", "such as 10MiB, 50%, 5/s", "" if value is None else text_of(key, value)),
        )

    def command(self, given: Given) -> str:
        user = given.get("user", "").strip()
        whose = options(self.at) if self.at is not None else f"--user {quoted(user) if user else 'USER'}"
        key, limit = given["quota"].strip() or "QUOTA", given["limit"].strip().removesuffix("/s") or "LIMIT"
        return f"kcli quotas alter {whose} {quoted(f'{key}={limit}')} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        if self.at is None and not given["user"].strip():
            raise UsageError("user: whose quota is it?")
        at = self.at or entity({"user": given["user"].strip()})
        key, limit = given["quota"].strip(), given["limit"].strip()
        if not key or not limit:
            raise UsageError("quota and limit: such as producer_byte_rate and 10MiB")
        self.word = name_of(at)
        limits = {at: {key: value_of(key, limit.removesuffix("/s"))}}
        return shown(await quotas.plan(client.cluster, limits), _what)


class RemoveQuotas(Change):
    """The limits of one or several rows."""

    def __init__(self, *limits: tuple[Entity, str]) -> None:
        self.limits = limits
        at, key = limits[0]
        self.word = name_of(at) if len(limits) == 1 else word_of([""] * len(limits), "quota")
        self.title = f"Remove {key} of {printable(str(at))}" if len(limits) == 1 else f"Remove {self.word}"

    def command(self, given: Given) -> str:
        at, _ = self.limits[0]
        if any(other != at for other, _ in self.limits):
            return ""  # one command is about one entity
        return (
            f"kcli quotas alter {options(at)} {' '.join(f'--delete {quoted(key)}' for _, key in self.limits)} --execute"
        )

    async def plan(self, client: Client, given: Given) -> Plan:
        changes: dict[Entity, dict[str, float | None]] = {}
        for at, key in self.limits:
            changes.setdefault(at, {})[key] = None
        plan = shown(await quotas.plan(client.cluster, changes), _what)
        if plan.carry_out is None:
            raise KcliError("none of these quotas is set (any more)")
        return plan
