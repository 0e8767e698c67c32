"""SCRAM users of a cluster (KIP-554): list credentials, and set new ones, computed here from the password.

The broker gets the salted password, which is enough to log in, so use TLS or a trusted network. Brokers never return
it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from kcli import codes
from kcli.asking.ask import ask_anyone, ask_once
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster
from kcli.proto.messages.alter_user_scram_credentials import ScramCredentialUpsertion
from kcli.secret import Secret
from kcli.values import Frozen

Credentials = dict[str, int]
"""A user's mechanisms, each with its iterations."""

MECHANISMS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
FEWEST, USUAL, MOST = 4096, 8192, 16384
"""Iterations: Kafka's limits, and kcli's default."""


class Password(Frozen):
    """A user's new password for one mechanism."""

    user: str = ""
    mechanism: str = "SCRAM-SHA-512"
    password: Secret = Secret("")
    iterations: int = USUAL


def is_unknown(error: KcliError) -> bool:
    """Whether the cluster has no credentials for the user."""
    return isinstance(error, BrokerError) and error.code is codes.RESOURCE_NOT_FOUND


async def describe_users(cluster: Cluster, names: Iterable[str] | None = None) -> dict[str, Credentials | KcliError]:
    """Return the credentials of all users, by name, or of those named; BrokerError RESOURCE_NOT_FOUND for
    unknown ones."""
    from kcli.proto.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName

    wanted = None if names is None else list(dict.fromkeys(names))
    if wanted == []:
        return {}
    asked = None if wanted is None else [UserName(name=name) for name in wanted]
    answer = await ask_anyone(cluster, DescribeUserScramCredentialsRequest(users=asked))
    if answer.error_code:
        raise BrokerError(
            codes.of(answer.error_code), "users", answer.error_message, api=DescribeUserScramCredentialsRequest.api_key
        )
    credentials: dict[str, Credentials | KcliError] = {}
    for row in answer.results:
        if row.error_code:
            credentials[row.user] = BrokerError(codes.of(row.error_code), f"user {row.user}", row.error_message)
        else:
            credentials[row.user] = {_name(info.mechanism): info.iterations for info in row.credential_infos}
    if wanted is None:
        return dict(sorted(credentials.items()))
    return {
        name: credentials.get(name, KcliError(f"user {name}: the broker's response does not contain this"))
        for name in wanted
    }


async def alter_credentials(
    cluster: Cluster, set: Sequence[Password] = (), remove: Sequence[tuple[str, str]] = ()
) -> dict[tuple[str, str], KcliError | None]:
    """Set passwords, and `remove` credentials (user, mechanism); return the error of each, or None. Kafka accepts one
    change per user in a request, so a user with two mechanisms needs two, one after the other."""
    given: list[Password | tuple[str, str]] = [*remove, *set]
    unknown = KcliError("unknown mechanism; this kcli may be too old for it")
    done: dict[tuple[str, str], KcliError | None] = {_key(change): unknown for change in given}
    changes = [change for change in given if _key(change)[1] in MECHANISMS]
    while changes:
        now: dict[str, Password | tuple[str, str]] = {}
        for change in changes:
            now.setdefault(change.user if isinstance(change, Password) else change[0], change)
        changes = [change for change in changes if not any(change is each for each in now.values())]
        answers = await _request(cluster, list(now.values()))
        for name, change in now.items():
            done[_key(change)] = answers[name]
    return done


def _key(change: Password | tuple[str, str]) -> tuple[str, str]:
    """User and mechanism."""
    return (change.user, change.mechanism) if isinstance(change, Password) else change


async def _request(cluster: Cluster, changes: Sequence[Password | tuple[str, str]]) -> dict[str, KcliError | None]:
    """Send one request with each user once."""
    from kcli.proto.messages.alter_user_scram_credentials import (
        AlterUserScramCredentialsRequest,
        ScramCredentialDeletion,
    )

    request = AlterUserScramCredentialsRequest(
        deletions=[
            ScramCredentialDeletion(name=change[0], mechanism=MECHANISMS[change[1]])
            for change in changes
            if not isinstance(change, Password)
        ],
        upsertions=[await asyncio.to_thread(salted, change) for change in changes if isinstance(change, Password)],
    )
    users = [change.user if isinstance(change, Password) else change[0] for change in changes]
    try:
        answer = await ask_once(await cluster.anyone(), request)
    except KcliError as error:
        return dict.fromkeys(users, error)
    results = {row.user: row for row in answer.results}
    done: dict[str, KcliError | None] = {}
    for name in users:
        row = results.get(name)
        if row is None:
            done[name] = KcliError(f"user {name}: the broker's response does not contain this")
        elif row.error_code:
            done[name] = BrokerError(codes.of(row.error_code), f"user {name}", row.error_message, api=request.api_key)
        else:
            done[name] = None
    return done


def salted(change: Password, salt: bytes | None = None) -> ScramCredentialUpsertion:
    """Return SaltedPassword of RFC 5802, with a new salt unless one is given. The password is used as typed, as in
    Kafka's own tools."""
    from hashlib import pbkdf2_hmac
    from os import urandom

    from kcli.proto.messages.alter_user_scram_credentials import ScramCredentialUpsertion
    from kcli.proto.scram import HASHES

    salt = salt or urandom(32)
    password = change.password.reveal().encode()
    return ScramCredentialUpsertion(
        name=change.user,
        mechanism=MECHANISMS[change.mechanism],
        iterations=change.iterations,
        salt=salt,
        salted_password=pbkdf2_hmac(HASHES[change.mechanism], password, salt, change.iterations),
    )


def _name(number: int) -> str:
    return next((name for name, key in MECHANISMS.items() if key == number), f"mechanism {number}")
