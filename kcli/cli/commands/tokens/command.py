"""`kcli tokens`: delegation tokens. Only `create` gives the HMAC away; the others look it up and keep it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from kcli.acls import principal
from kcli.admin.users.tokens import DEFAULT, Token, create_token, describe_tokens, expire_token, renew_token
from kcli.cli.output.render import Document
from kcli.cli.output.timestamps import known
from kcli.cli.runtime.answer import answer, confirm, excluding, missing, plural, say, words_of
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values


def list_all(values: Values) -> int:
    """`kcli tokens list`."""
    owners = [principal(one) for one in values["owners"]] or None

    async def work(cluster: Cluster, document: Document) -> None:
        document.rows["tokens"] = [_row(one) for one in await describe_tokens(cluster, owners)]

    return answer(values, "tokens.list", work)


def create(values: Values) -> int:
    """`kcli tokens create`."""
    owner = None if values["owner"] is None else principal(values["owner"])
    renewers = [principal(one) for one in dict.fromkeys(values["renewers"])]
    lifetime = _period(values["lifetime"], "--max-lifetime")
    path = values["hmac_file"]
    if path is not None and os.path.lexists(path):
        raise UsageError(f"--hmac-file {path}: there is a file already; name a new one")

    async def work(cluster: Cluster, document: Document) -> None:
        if values["dry_run"]:
            await describe_tokens(cluster, [])
            say(values, f"would create a token of {owner or 'whoever asks'}")
            return
        with _Private(path) as out:
            made = await create_token(cluster, owner, renewers, lifetime)
            if out is not None:
                os.write(out, f"{made.hmac.reveal()}\n".encode())
        document.rows["tokens"] = [{**_row(made), "hmac": None if path is not None else made.hmac.reveal()}]
        say(
            values,
            "log in with it: -X sasl.mechanism=SCRAM-SHA-512 -X sasl.delegation.token=true "
            f"-X sasl.username={made.id}, and the HMAC as sasl.password",
        )

    return answer(values, "tokens.create", work)


class _Private:
    """A new file that only we can read, opened before the token is made: without it none is. It goes when the token
    does not come."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._out: int | None = None

    def __enter__(self) -> int | None:
        if self._path is not None:
            try:
                self._out = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except OSError as error:
                raise KcliError(f"no token was made: {self._path} cannot be written ({error.strerror})") from None
        return self._out

    def __exit__(self, kind: object, *_: object) -> None:
        if self._out is None or self._path is None:
            return
        os.close(self._out)
        if kind is not None:
            os.unlink(self._path)


def renew(values: Values) -> int:
    """`kcli tokens renew TOKEN...`."""
    ids, period = words_of(values, "TOKEN, by its id"), _period(values["period"], "--for")

    async def work(cluster: Cluster, document: Document) -> int | None:
        found = await _find(cluster, ids, document)
        rows = document.rows["tokens"] = [_plan(one, "would renew") for one in found]
        if not values["dry_run"]:
            await _each(document, rows, found, "renewed", lambda one: renew_token(cluster, one, period))
        return None

    return answer(values, "tokens.renew", work)


def expire(values: Values) -> int:
    """`kcli tokens expire TOKEN...`."""
    ids, period = words_of(values, "TOKEN, by its id"), _period(values["period"], "--in")
    excluding(values)

    async def work(cluster: Cluster, document: Document) -> int | None:
        found = await _find(cluster, ids, document, if_exists=values["if_exists"])
        rows = document.rows["tokens"] = [_plan(one, "would expire") for one in found]
        if values["dry_run"] or not found:
            return None
        if not confirm(values, document, ids[0] if len(ids) == 1 else f"expire {len(found)} tokens"):
            document.rows.clear()
            return 1
        word = "expires" if values["period"] else "expired"
        await _each(document, rows, found, word, lambda one: expire_token(cluster, one, period))
        when = f" will expire in {values['period']}" if values["period"] else " expired"
        say(values, plural(sum(row["result"] == word for row in rows), "token") + when)
        return None

    return answer(values, "tokens.expire", work)


async def _each(
    document: Document, rows: list[Row], tokens: list[Token], word: str, change: Callable[[Token], Awaitable[int]]
) -> None:
    for row, one in zip(rows, tokens, strict=True):
        try:
            row["new"], row["result"] = known(await change(one), "seconds"), word
        except KcliError as error:
            row["result"], row["error"] = "failed", str(error)
            document.fail(error, one.id)


async def _find(cluster: Cluster, ids: list[str], document: Document, *, if_exists: bool = False) -> list[Token]:
    """The tokens of these ids; one that there is not, or that we may not see, is an error in the document."""
    known = {one.id: one for one in await describe_tokens(cluster)}
    for name in ids:
        if name not in known and not if_exists:
            missing(document, name, KcliError(f"there is no token {name} that one may see"), known)
    return [known[name] for name in ids if name in known]


def _plan(one: Token, result: str) -> Row:
    return {
        "token_id": one.id, "owner": one.owner, "old": known(one.expires, "seconds"), "new": None, "result": result,
        "note": None, "error": None,
    }  # fmt: skip


def _row(one: Token) -> Row:
    return {
        "token_id": one.id,
        "owner": one.owner,
        "issued": known(one.issued, "seconds"),
        "expires": known(one.expires, "seconds"),
        "max_time": known(one.max_time, "seconds"),
        "requester": one.requester,
        "renewers": one.renewers,
    }


def _period(text: str | None, flag: str) -> int:
    """Milliseconds of a duration, DEFAULT where it is not said. Raises UsageError."""
    if text is None:
        return DEFAULT
    from kcli.grammar.offsets import duration

    found = int(text) * 1000 if text.isdecimal() else duration(text)
    if found is None or found <= 0:
        raise UsageError(f"{flag} {text}: expected a duration such as 12h or 7d")
    return found
