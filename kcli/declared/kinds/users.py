"""Declared SCRAM users. Mechanism and iterations can be compared; a password is sent where they differ, or if told."""

from __future__ import annotations

import re

from kcli.admin.users.users import USUAL, Password, alter_credentials, describe_users, is_unknown
from kcli.declared.model import ADD, CHANGE, REMOVE, Declared, Item, Login, Step
from kcli.declared.secrets import Secrets, table
from kcli.errors import KcliError
from kcli.model import Cluster

SET, DELETE = 0, 80


async def plan(cluster: Cluster, declared: Declared, *, prune: bool, secrets: bool) -> list[Step]:
    """What differs; a step for each mechanism of each user, since that is what a broker changes at once."""
    everything = prune and bool(declared.scope.get("users"))
    wanted = {name for name, _ in (*declared.users, *declared.absent_users)}
    credentials = await describe_users(cluster, None if everything else wanted)
    steps: list[Step] = []
    for (name, mechanism), login in declared.users.items():
        have = credentials.get(name, {})
        if isinstance(have, KcliError) and not is_unknown(have):
            steps.append(Step(kind="user", name=name, place=login.place, problem=have, order=SET))
            continue
        iterations = None if isinstance(have, KcliError) else have.get(mechanism)
        if iterations is None or secrets or login.iterations not in (None, iterations):
            steps.append(_set(name, mechanism, login, iterations))
    for name, there in credentials.items():
        for mechanism, count in (there if isinstance(there, dict) else {}).items():
            at = (name, mechanism)
            surplus = everything and at not in declared.users and declared.selected("users", name)
            if at in declared.absent_users or surplus:
                steps.append(
                    Step(
                        kind="user",
                        name=name,
                        sign=REMOVE,
                        place=declared.absent_users.get(at, ""),
                        order=DELETE,
                        items=[Item(sign=REMOVE, what=mechanism, old=_said(count))],
                        do=mechanism,
                        undo=_before(name, mechanism, {"iterations": count, "password": {"env": variable(name)}}),
                    )
                )
    return steps


def _said(iterations: int) -> str:
    return f"{iterations} iterations"


def _set(name: str, mechanism: str, login: Login, have: int | None) -> Step:
    iterations = login.iterations or have or USUAL
    sign = ADD if have is None else CHANGE
    new = _said(iterations) + (", the password again" if have == iterations else "")
    step = Step(kind="user", name=name, sign=sign, place=login.place, order=SET, do=(mechanism, iterations, login))
    step.items = [Item(sign=sign, what=mechanism, old=None if have is None else _said(have), new=new)]
    if login.password is None:
        step.refused = True
        step.problem = KcliError(
            f"{login.place}: {name} needs a password for {mechanism}: password: {{env: {variable(name)}}}"
        )
    elif have is None:
        step.undo = {"absent": {"users": {name: [mechanism]}}}
    else:
        step.undo = _before(name, mechanism, {"iterations": have, "password": table(login.password)})
    return step


def _before(name: str, mechanism: str, login: dict[str, object]) -> dict[str, object]:
    return {"users": {name: {mechanism: login}}}


def variable(name: str) -> str:
    """The environment variable that an exported file names for a user's password."""
    return re.sub(r"\W", "_", name.upper(), flags=re.ASCII) + "_PASSWORD"


async def carry_out(cluster: Cluster, steps: list[Step], secrets: Secrets, *, dry_run: bool) -> None:
    """Do it. Brokers have no way to check it before; with `dry_run` only the passwords are looked up."""
    passwords: list[Password] = []
    removed: list[tuple[str, str]] = []
    for step in steps:
        if step.sign == REMOVE:
            removed.append((step.name, step.do))
            continue
        mechanism, iterations, login = step.do
        try:
            password = secrets.secret(login.password, f"{login.place}: {step.name}: password")
        except KcliError as error:
            step.problem, step.refused = error, True
            continue
        passwords.append(Password(user=step.name, mechanism=mechanism, iterations=iterations, password=password))
    if dry_run:
        return
    done = await alter_credentials(cluster, passwords, removed)
    for step in (step for step in steps if step.problem is None):
        step.problem = done[step.name, step.do if step.sign == REMOVE else step.do[0]]
        step.done = step.problem is None
