"""Declared SCRAM users. Mechanism and iterations can be compared; a password is sent where they differ, or if told."""

from __future__ import annotations

import re

from kcli import codes
from kcli.admin.users import USUAL, Password, alter_users, describe_users
from kcli.declared.model import ADD, CHANGE, REMOVE, Item, Step
from kcli.declared.secrets import table
from kcli.errors import BrokerError, KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.declared.model import Declared, Login
    from kcli.declared.secrets import Secrets
    from kcli.model import Cluster

SET, DELETE = 0, 80


async def plan(cluster: Cluster, declared: Declared, *, prune: bool, secrets: bool) -> list[Step]:
    """What differs; a step for each user, since a broker changes a user whole."""
    everything = prune and bool(declared.scope.get("users"))
    wanted = {name for name, _ in (*declared.users, *declared.absent_users)}
    found = await describe_users(cluster, None if everything else wanted)
    steps: dict[str, Step] = {}
    for (name, mechanism), login in declared.users.items():
        have = found.get(name, {})
        if isinstance(have, KcliError) and not _unknown(have):
            steps[name] = Step(kind="user", name=name, place=login.place, problem=have, order=SET)
            continue
        iterations = None if isinstance(have, KcliError) else have.get(mechanism)
        if iterations is not None and not secrets and login.iterations in (None, iterations):
            continue
        step = steps.setdefault(name, Step(kind="user", name=name, place=login.place, order=SET, do=[]))
        if step.do is not None:
            _set(step, mechanism, login, iterations)
    surplus = [
        (name, mechanism, count)
        for name, have in found.items()
        if not isinstance(have, KcliError)
        for mechanism, count in have.items()
        if (name, mechanism) in declared.absent_users
        or (everything and (name, mechanism) not in declared.users and declared.selected("users", name))
    ]
    gone: dict[str, Step] = {}
    for name, mechanism, count in surplus:
        place = declared.absent_users.get((name, mechanism), "")
        step = gone.setdefault(name, Step(kind="user", name=name, sign=REMOVE, place=place, order=DELETE, do=[]))
        step.items.append(Item(sign=REMOVE, what=mechanism, old=_said(count)))
        step.do.append(mechanism)
        _remember(step, mechanism, {"iterations": count, "password": {"env": variable(name)}})
    return [*steps.values(), *gone.values()]


def _unknown(error: KcliError) -> bool:
    return isinstance(error, BrokerError) and error.code is codes.RESOURCE_NOT_FOUND


def _said(iterations: int) -> str:
    return f"{iterations} iterations"


def _set(step: Step, mechanism: str, login: Login, have: int | None) -> None:
    iterations = login.iterations or have or USUAL
    sign = ADD if have is None else CHANGE
    new = _said(iterations) + (", the password again" if have == iterations else "")
    step.items.append(Item(sign=sign, what=mechanism, old=None if have is None else _said(have), new=new))
    step.do.append((mechanism, iterations, login))
    if all(item.sign == ADD for item in step.items):
        step.sign = ADD
    else:
        step.sign = CHANGE
    if login.password is None:
        step.refused = True
        step.problem = KcliError(
            f"{login.place}: {step.name} needs a password for {mechanism}: password: {{env: {variable(step.name)}}}"
        )
    elif have is None:
        step.undo.setdefault("absent", {}).setdefault("users", {}).setdefault(step.name, []).append(mechanism)
    else:
        _remember(step, mechanism, {"iterations": have, "password": table(login.password)})


def _remember(step: Step, mechanism: str, login: dict[str, object]) -> None:
    step.undo.setdefault("users", {}).setdefault(step.name, {})[mechanism] = login


def variable(name: str) -> str:
    """The environment variable that an exported file names for a user's password."""
    return re.sub(r"\W", "_", name.upper(), flags=re.ASCII) + "_PASSWORD"


async def carry_out(cluster: Cluster, steps: list[Step], secrets: Secrets, *, dry_run: bool) -> None:
    """Do it. Brokers have no way to check it before; with `dry_run` only the passwords are looked up."""
    passwords: list[Password] = []
    removed: list[tuple[str, str]] = []
    for step in steps:
        if step.sign == REMOVE:
            removed += [(step.name, mechanism) for mechanism in step.do]
            continue
        try:
            passwords += [
                Password(
                    user=step.name, mechanism=mechanism, iterations=iterations,
                    password=secrets.secret(login.password, f"{login.place}: {step.name}: password"),
                )
                for mechanism, iterations, login in step.do
            ]  # fmt: skip
        except KcliError as error:
            step.problem, step.refused = error, True
    if dry_run:
        return
    ready = [step for step in steps if step.problem is None]
    names = {step.name for step in ready}
    done = await alter_users(cluster, [one for one in passwords if one.user in names], removed)
    for step in ready:
        step.problem = done[step.name]
        step.done = step.problem is None
