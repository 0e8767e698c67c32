"""Declared SCRAM users, quotas and ACLs.

Of a user's password only mechanism and iterations can be compared; it is sent if they differ, or on request. Brokers
cannot validate users and ACLs in advance; the controller validates quotas.
"""

from __future__ import annotations

from kcli.acls import AclFilter
from kcli.admin.acls import create_acls, delete_acls, describe_acls
from kcli.admin.quotas import alter_quotas, describe_quotas, text_of
from kcli.admin.users import USUAL, Password, alter_credentials, describe_users, is_unknown
from kcli.changes.declared.step import ADD, CHANGE, REMOVE, Stage, Step
from kcli.declared.entries import acl_entries, quota_entry, variable
from kcli.declared.model import Settings
from kcli.declared.secrets import table
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.acls import Acl
    from kcli.admin.quotas import Entity
    from kcli.changes.declared.plan import ClusterPlan
    from kcli.declared.model import Login
    from kcli.declared.secrets import Secrets


async def users(plan: ClusterPlan) -> list[Step]:
    """Return the steps for users: one for each mechanism of each user, which is what a broker changes at once."""
    of, everything = plan.declared, plan.whole("users")
    wanted = {name for name, _ in (*of.users, *of.absent_users)}
    credentials = await describe_users(plan.cluster, None if everything else wanted)
    steps: list[Step] = []
    for (name, mechanism), login in of.users.items():
        have = credentials.get(name, {})
        if isinstance(have, KcliError) and not is_unknown(have):
            steps.append(Step(stage=SET_USERS, kind="user", name=name, place=login.place).fail(have))
            continue
        iterations = None if isinstance(have, KcliError) else have.get(mechanism)
        if iterations is None or plan.resend or login.iterations not in (None, iterations):
            steps.append(_login(name, mechanism, login, iterations))
    for name, there in credentials.items():
        for mechanism, count in (there if isinstance(there, dict) else {}).items():
            at = (name, mechanism)
            if at in of.absent_users or (everything and at not in of.users and plan.prunes("users", name)):
                step = Step(stage=DELETE_USERS, kind="user", name=name, sign=REMOVE, key=at)
                step.place = of.absent_users.get(at, "")
                step.part(mechanism, _said(count))
                step.undo = _user(name, mechanism, {"iterations": count, "password": {"env": variable(name)}})
                steps.append(step)
    return steps


def _login(name: str, mechanism: str, login: Login, have: int | None) -> Step:
    iterations = login.iterations or have or USUAL
    at, sign = (name, mechanism), ADD if have is None else CHANGE
    step = Step(stage=SET_USERS, kind="user", name=name, sign=sign, place=login.place, key=at)
    step.value = (iterations, login)
    again = ", the password again" if have == iterations else ""
    step.part(mechanism, None if have is None else _said(have), _said(iterations) + again)
    if login.password is None:
        why = f"{name} needs a password for {mechanism}: password: {{env: {variable(name)}}}"
        return step.fail(KcliError(f"{login.place}: {why}"), refused=True)
    if have is None:
        step.undo = {"absent": {"users": {name: [mechanism]}}}
    else:
        step.undo = _user(name, mechanism, {"iterations": have, "password": table(login.password)})
    return step


def _said(iterations: int) -> str:
    return f"{iterations} iterations"


def _user(name: str, mechanism: str, login: dict[str, object]) -> dict[str, object]:
    return {"users": {name: {mechanism: login}}}


def _password(step: Step, secrets: Secrets) -> Password:
    (name, mechanism), (iterations, login) = step.key, step.value
    password = secrets.secret(login.password, f"{login.place}: {name}: password")
    return Password(user=name, mechanism=mechanism, iterations=iterations, password=password)


SET_USERS = Stage(
    order=0,
    send=lambda plan, changes, dry_run: alter_credentials(plan.cluster, list(changes.values()), []),
    made=_password,
    checks=False,
)
DELETE_USERS = Stage(
    order=80,
    send=lambda plan, changes, dry_run: alter_credentials(plan.cluster, [], list(changes)),
    checks=False,
    removes=True,
)

# -- quotas -----------------------------------------------------------------------------------------------------------


async def quotas(plan: ClusterPlan) -> list[Step]:
    """Return the steps for quotas, by entity."""
    have = await describe_quotas(plan.cluster)
    wanted = dict(plan.declared.quotas)
    for at in have:
        if plan.prunes("quotas", str(at)):
            wanted.setdefault(at, Settings())
    steps = [_limits(at, one, have.get(at, {}), plan.prunes("quotas", str(at))) for at, one in wanted.items()]
    return [step for step in steps if step.rows]


def _limits(at: Entity, wanted: Settings, have: dict[str, float], prune: bool) -> Step:
    limits: dict[str, float | None] = {key: float(str(setting.value)) for key, setting in wanted.values.items()}
    limits |= {key: None for key in have if key not in limits and (prune or key in wanted.inherit)}
    change = {key: value for key, value in limits.items() if value != have.get(key)}
    step = Step(stage=SET_QUOTAS, kind="quota", name=str(at), place=wanted.place, key=at, value=change)
    for key, value in change.items():
        old, new = (None if limit is None else text_of(key, limit) for limit in (have.get(key), value))
        step.part(key, old, new, ADD if old is None else REMOVE if new is None else CHANGE)
    signs = {row.sign for row in step.rows}
    step.sign = signs.pop() if len(signs) == 1 else CHANGE
    inherit = [key for key in change if key not in have]
    before: dict[str, Any] = quota_entry(at, {key: have[key] for key in change if key in have})
    step.undo = {"quotas": [before | ({"inherit": inherit} if inherit else {})]}
    return step


SET_QUOTAS = Stage(order=20, send=lambda plan, changes, dry_run: alter_quotas(plan.cluster, changes, dry_run=dry_run))

# -- ACLs -------------------------------------------------------------------------------------------------------------


async def acls(plan: ClusterPlan) -> list[Step]:
    """Return the steps for ACLs. Raises BrokerError SECURITY_DISABLED without an authorizer."""
    of = plan.declared
    principals = {acl.principal for acl in (*of.acls, *of.absent_acls)}
    one = len(principals) == 1 and not of.scope.get("acls")
    have = set(await describe_acls(plan.cluster, AclFilter(principal=principals.pop()) if one else AclFilter()))
    steps = [_acl(acl, ADD, place) for acl, place in of.acls.items() if acl not in have]
    steps += [_acl(acl, REMOVE, place) for acl, place in of.absent_acls.items() if acl in have]
    surplus = sorted(have - (of.acls.keys() | of.absent_acls.keys())) if plan.whole("acls") else []
    return steps + [_acl(acl, REMOVE, "") for acl in surplus if plan.prunes("acls", acl.principal)]


def _acl(acl: Acl, sign: str, place: str) -> Step:
    stage = ADD_ACLS if sign == ADD else REMOVE_ACLS
    step = Step(stage=stage, kind="acl", name=acl.principal, sign=sign, place=place, key=acl)
    prefix = "prefix " if acl.pattern == "prefixed" else ""
    resource = acl.kind if acl.kind == "cluster" else f"{acl.kind} {prefix}{acl.name}"
    step.part(f"{acl.permission} {acl.operation} {resource}{'' if acl.host == '*' else f' from {acl.host}'}")
    undo: dict[str, Any] = {"acls": acl_entries([acl])}
    step.undo = {"absent": undo} if sign == ADD else undo
    return step


ADD_ACLS = Stage(order=30, send=lambda plan, changes, dry_run: create_acls(plan.cluster, list(changes)), checks=False)
REMOVE_ACLS = Stage(
    order=70, send=lambda plan, changes, dry_run: delete_acls(plan.cluster, list(changes)), checks=False, removes=True
)
