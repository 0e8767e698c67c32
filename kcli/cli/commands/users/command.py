"""`kcli users`: SCRAM credentials, told, set and deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli import codes
from kcli.admin.users.users import MECHANISMS, MOST, USUAL, Password, alter_credentials, describe_users
from kcli.cli.commands.users import new_password
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, confirm, excluding, missing, plural, say, words_of
from kcli.errors import BrokerError, KcliError, UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.admin.users.users import Credentials
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values


def list_all(values: Values) -> int:
    """`kcli users list`."""

    async def work(cluster: Cluster, document: Document) -> None:
        document.rows["users"] = []
        for name, found in (await describe_users(cluster)).items():
            _told(document, name, found)

    return answer(values, "users.list", work)


def describe(values: Values) -> int:
    """`kcli users describe USER...`."""
    names = words_of(values, "USER")

    async def work(cluster: Cluster, document: Document) -> None:
        document.rows["users"] = []
        for name, found in (await _find(cluster, names, document)).items():
            _told(document, name, found)

    return answer(values, "users.describe", work)


def _told(document: Document, name: str, found: Credentials | KcliError) -> None:
    if isinstance(found, KcliError):
        document.fail(found, name)
        return
    document.rows["users"] += [
        {"user": name, "mechanism": mechanism, "iterations": rounds} for mechanism, rounds in sorted(found.items())
    ]


async def _find(
    cluster: Cluster, names: list[str], document: Document, *, none: bool = False
) -> dict[str, Credentials]:
    """Users by name. One that there is not is an error in the document, with the nearest name; or, with `none`, a user
    without credentials."""
    found: dict[str, Credentials] = {}
    known: list[str] | None = None
    for name, one in (await describe_users(cluster, names)).items():
        if not isinstance(one, KcliError):
            found[name] = one
        elif not _absent(one):
            document.fail(one, name)
        elif none:
            found[name] = {}
        else:
            known = list(await describe_users(cluster)) if known is None else known
            missing(document, name, KcliError(f"there is no user {name} with SCRAM credentials"), known)
    return found


def _mechanisms(values: Values) -> list[str]:
    """Those that a line names, in capitals. Raises UsageError."""
    found = [one.upper() for one in dict.fromkeys(values["mechanisms"])]
    for one in found:
        if one not in MECHANISMS:
            raise UsageError(f"--mechanism {one}: it is {' or '.join(MECHANISMS)}")
    return found


def _absent(error: KcliError) -> bool:
    return isinstance(error, BrokerError) and error.code is codes.RESOURCE_NOT_FOUND


def set_password(values: Values) -> int:
    """`kcli users set USER`."""
    names = words_of(values, "USER")
    if len(names) > 1:
        raise UsageError("set one user's password at a time")
    excluding(values)
    wanted = _mechanisms(values)
    new_password.check(values)
    rounds = values["iterations"] or USUAL
    if rounds > MOST:
        raise UsageError(f"--iterations {rounds}: Kafka takes {MOST} at most")
    (name,) = names
    password = None if values["dry_run"] else new_password.read(values, name)

    async def work(cluster: Cluster, document: Document) -> int | None:
        users = await _find(cluster, names, document, none=True)
        if name not in users:
            return None
        has = users[name]
        chosen = wanted or sorted(has) or list(MECHANISMS)
        rows = document.rows["users"] = [_row(name, one, has.get(one), rounds, "would set") for one in chosen]
        kept = sorted(has.keys() - set(chosen))
        if kept:
            say(values, f"{name} can still log in by {' and '.join(kept)} with the password of before")
        if password is None:
            return None
        if not confirm(values, document, name):
            document.rows.clear()
            return 1
        made = [Password(user=name, mechanism=one, password=password, iterations=rounds) for one in chosen]
        _finish(document, rows, await alter_credentials(cluster, made), "set")
        if not document.errors:
            say(values, f"user {name}: the password is set for {' and '.join(chosen)}")
        return None

    return answer(values, "users.set", work)


def delete(values: Values) -> int:
    """`kcli users delete USER...`."""
    names, wanted = words_of(values, "USER"), _mechanisms(values)
    excluding(values)

    async def work(cluster: Cluster, document: Document) -> int | None:
        users = await _find(cluster, names, document, none=values["if_exists"])
        rows = document.rows["users"] = []
        for name, has in users.items():
            there = [one for one in sorted(has) if not wanted or one in wanted]
            rows += [_row(name, one, has[one], None, "would delete") for one in there]
            absent = [one for one in wanted if one not in has]
            rows += [_row(name, one, None, None, "absent") for one in (absent if has else [None])]
            if has and absent and not values["if_exists"]:
                document.fail(KcliError(f"user {name} has no {' and no '.join(absent)}"), name)
        ready = [row for row in rows if row["result"] == "would delete"]
        if values["dry_run"] or not ready:
            return None
        named = list(dict.fromkeys(row["user"] for row in ready))
        if not confirm(values, document, named[0] if len(named) == 1 else f"delete {len(named)} users"):
            document.rows.clear()
            return 1
        done = await alter_credentials(cluster, remove=[(row["user"], row["mechanism"]) for row in ready])
        _finish(document, ready, done, "deleted")
        say(values, f"{plural(sum(row['result'] == 'deleted' for row in rows), 'credential')} deleted")
        return None

    return answer(values, "users.delete", work)


def _row(name: str, mechanism: str | None, old: int | None, new: int | None, result: str) -> Row:
    return {"user": name, "mechanism": mechanism, "old": old, "new": new, "result": result, "error": None}


def _finish(document: Document, rows: list[Row], done: dict[tuple[str, str], KcliError | None], word: str) -> None:
    """What became of the plan's rows."""
    for row in rows:
        problem = done[row["user"], row["mechanism"]]
        row["result"], row["error"] = (word, None) if problem is None else ("failed", str(problem))
    for (name, mechanism), problem in done.items():
        if problem is not None:
            document.fail(problem, f"{name} {mechanism}")
