"""Changes of credentials: SCRAM passwords are set or deleted; delegation tokens are created, renewed or expired. They
cannot be undone, because brokers do not reveal a password."""

from __future__ import annotations

from kcli.admin.tokens import DEFAULT, Token, create_token, describe_tokens, expire_token, renew_token
from kcli.admin.users import MECHANISMS, USUAL, Password, alter_credentials, describe_users, is_unknown
from kcli.changes.change import UNCHANGED, Plan, Row, settle
from kcli.errors import KcliError
from kcli.text.suggest import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import ClassVar

    from kcli.admin.users import Credentials
    from kcli.model import Cluster
    from kcli.secret import Secret

    Shown = Callable[[int], str | None]
    """Formats a time in ms since the epoch."""


SET, DELETE = ("would set", UNCHANGED, "set"), ("would delete", "absent", "deleted")


class CredentialRow(Row):
    """A user's credential for a mechanism, None if the user has none; `old` and `new` are its iterations."""

    mechanism: str | None = None
    columns: ClassVar[Sequence[str]] = "user=name mechanism old new result".split()


async def plan_set(
    cluster: Cluster, user: str, password: Secret, mechanisms: Sequence[str] = (), iterations: int = USUAL
) -> Plan:
    """Return the plan that sets a password for these mechanisms, else for those that the user has, or for all if the
    user is new: a row for each."""
    found, failed = await find(cluster, [user], unknown_too=True)
    if failed:
        return Plan(failed=failed)
    has = found[user]
    given = [
        Password(user=user, mechanism=one, password=password, iterations=iterations)
        for one in mechanisms or sorted(has) or MECHANISMS
    ]
    rows = {(user, one.mechanism): _row(user, one.mechanism, has.get(one.mechanism), iterations, SET) for one in given}
    kept = sorted(has.keys() - {one.mechanism for one in given})
    warnings = [f"{user} can still log in by {' and '.join(kept)} with the old password"] if kept else []

    async def apply(cluster: Cluster) -> None:
        settle(rows, await alter_credentials(cluster, given))

    return Plan(rows=list(rows.values()), warnings=warnings).applied_by(apply)


async def plan_deletion(
    cluster: Cluster, users: Sequence[str], mechanisms: Collection[str] = (), *, if_exists: bool = False
) -> Plan:
    """Return the plan that deletes credentials, of all mechanisms unless some are named: a row for each. With
    `if_exists` a missing one is not an error."""
    found, failed = await find(cluster, users, unknown_too=if_exists)
    rows: dict[tuple[str, str | None], CredentialRow] = {}
    for name, has in found.items():
        absent = [one for one in mechanisms if one not in has]
        for one in sorted(has):
            if not mechanisms or one in mechanisms:
                rows[name, one] = _row(name, one, has[one], None, DELETE)
        for missing in absent if has else [None]:
            rows[name, missing] = _row(name, missing, None, None, DELETE)
            rows[name, missing].settle(None, unchanged=True)
        if has and absent and not if_exists:
            failed[name] = KcliError(f"user {name} has no {' and no '.join(absent)}")
    ready = [(name, one) for (name, one), row in rows.items() if row.is_open and one is not None]

    async def apply(cluster: Cluster) -> None:
        settle(rows, await alter_credentials(cluster, remove=ready))

    return Plan(rows=list(rows.values()), failed=failed).applied_by(apply)


async def find(
    cluster: Cluster, names: Sequence[str], *, unknown_too: bool = False
) -> tuple[dict[str, Credentials], dict[str, KcliError]]:
    """Return users by name, and the errors of those that cannot be read. A user that does not exist is an error, with
    the most similar name; or, with `unknown_too`, a user without credentials."""
    found: dict[str, Credentials] = {}
    failed: dict[str, KcliError] = {}
    answers = await describe_users(cluster, names)
    unknown = {name for name, one in answers.items() if isinstance(one, KcliError) and is_unknown(one)}
    known = await describe_users(cluster) if unknown and not unknown_too else {}
    for name, one in answers.items():
        if name in unknown and not unknown_too:
            failed[name] = KcliError(f"user {name} has no SCRAM credentials{did_you_mean(name, known)}")
        elif isinstance(one, KcliError) and name not in unknown:
            failed[name] = one
        else:
            found[name] = {} if isinstance(one, KcliError) else one
    return found, failed


def _row(
    user: str, mechanism: str | None, old: int | None, new: int | None, words: tuple[str, str, str]
) -> CredentialRow:
    row = CredentialRow(name=user, mechanism=mechanism, about=f"{user} {mechanism}", result=words[0], words=words)
    row.old, row.new = old, new
    return row


# -- delegation tokens -------------------------------------------------------------------------------------------------


class TokenRow(Row):
    """A token: `name` is its id, `old` and `new` are when it expires."""

    owner: str = ""
    columns: ClassVar[Sequence[str]] = "token_id=name owner old new result note".split()


class NewToken(TokenRow):
    """A token to create for `owner`, "" for the requesting user."""

    result: str = "would create"
    words: tuple[str, str, str] = ("would create", UNCHANGED, "created")

    async def create(self, cluster: Cluster, renewers: Sequence[str], lifetime: int) -> Token | KcliError:
        """Create it like `create_token`; return the token, or the error."""
        try:
            token = await create_token(cluster, self.owner or None, renewers, lifetime)
        except KcliError as error:
            self.settle(error)
            return error
        self.name, self.owner = token.id, token.owner
        self.settle(None)
        return token


async def plan_expiry(
    cluster: Cluster, ids: Sequence[str], period: int, shown: Shown, *, renew: bool = False, if_exists: bool = False
) -> Plan:
    """Return the plan that expires tokens in `period` ms, or `renew`s them for that long: a row for each. With
    `if_exists` a missing one is not an error."""
    there = {token.id: token for token in await describe_tokens(cluster)}
    plan = Plan()
    for name in ids:
        if (token := there.get(name)) is not None:
            row = TokenRow(name=name, about=name, owner=token.owner, old=shown(token.expires))
            row.result = "would renew" if renew else "would expire"
            done = "renewed" if renew else "expired" if period == DEFAULT else "expires"
            row.words = (row.result, UNCHANGED, done)
            plan.rows.append(row)
        elif not if_exists:
            plan.failed[name] = KcliError(f"no token {name} that you may describe{did_you_mean(name, there)}")

    async def apply(cluster: Cluster) -> None:
        change = renew_token if renew else expire_token
        for row in plan.rows:
            try:
                row.new = shown(await change(cluster, there[row.name], period))
                row.settle(None)
            except KcliError as error:
                row.settle(error)

    return plan.applied_by(apply)
