"""`kcli raw`: any request as JSON, its answer as JSON; the APIs there are, and their fields."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from kcli.broker.guard import READING
from kcli.cli.commands.raw.answer import explained, write_json
from kcli.cli.commands.raw.body import find_api, made, name_of, read_body
from kcli.cli.main import complain
from kcli.cli.runtime.answer import format_of
from kcli.cli.runtime.connection import Connection
from kcli.errors import ConnectError, DeadlineExceeded, KcliError, UsageError
from kcli.model import Broker, Cluster, Group, TopicPartition, Transaction
from kcli.proto.as_json import to_json
from kcli.proto.schema import Request

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values

PRODUCE, SASL_AUTHENTICATE = 0, 36
SENTENCES = 10
"""How many error codes are said on stderr; the answer has all."""


def run(values: Values) -> int:
    """`kcli raw API [BODY]`, `--list`, `--describe API`."""
    words = list(values["words"])
    if values["list"]:
        from kcli.cli.commands.raw.schema import list_apis

        return list_apis(values)
    if not words:
        raise UsageError("name an API: kcli raw Metadata, or --list for all of them")
    kind = find_api(words[0])
    if values["describe"]:
        from kcli.cli.commands.raw.schema import describe

        return describe(values, kind)
    if format_of(values) not in ("table", "json", "ndjson"):
        raise UsageError("an answer is JSON: --format json, or ndjson for one line")
    if len(words) > 2:
        raise UsageError(f"{words[2]!r} is too much: kcli raw API [BODY]; a body is one argument, in quotes")
    if values["hex"] and kind.api_key == SASL_AUTHENTICATE:
        raise UsageError("--hex does not show SaslAuthenticate: the password of this connection would be among it")
    body = read_body(words[1] if len(words) > 1 else None)
    place(values["broker"])
    version = values["api_version"]
    if version is not None and version not in kind.versions:
        raise UsageError(f"{name_of(kind)} has versions {kind.versions} here, not {version}")
    if values["dry_run"]:
        version = kind.versions.last if version is None else version
        write_json(to_json(made(kind, version, body), version), compact=format_of(values) == "ndjson")
        return 0
    return asyncio.run(_sent(values, kind, version, body))


async def _sent(values: Values, kind: type[Request[Any]], version: int | None, body: Any) -> int:
    from kcli.client import Client

    settings = Connection(values).client()
    if values["hex"]:
        settings = settings.replace(dump=kind.api_key)
    async with Client(settings) as client:
        broker = await broker_of(client.cluster, values["broker"])
        version = await _version(broker, kind, version)
        request = made(kind, version, body)
        if values["hex"]:
            from kcli.broker.connection.dumping import Dumping

            Dumping.armed = True
        if kind.api_key == PRODUCE and getattr(request, "acks", None) == 0:
            await broker.tell(request, max_version=version)
            return 0
        try:
            response = await broker.ask(request, max_version=version)
        except (ConnectError, DeadlineExceeded) as problem:
            if problem.sent and kind.api_key not in READING and not getattr(request, "validate_only", False):
                complain("it was sent, and may have been done all the same; look before you do it again")
            raise
    failed: list[str] = []
    answer = explained(to_json(response, version), failed, put=values["explain"])
    write_json(answer, compact=format_of(values) == "ndjson")
    for sentence in failed[:SENTENCES]:
        complain(sentence)
    if len(failed) > SENTENCES:
        complain(f"and {len(failed) - SENTENCES} more error codes")
    return 1 if failed else 0


async def _version(broker: Broker, kind: type[Request[Any]], wanted: int | None) -> int:
    """The version to speak. Raises KcliError where this broker does not speak it."""
    name = name_of(kind)
    offered = (await broker.versions()).get(kind.api_key)
    if offered is None:
        raise KcliError(f"broker {broker.node_id} does not offer {name}; what it offers: kcli raw --list")
    low, high = offered
    chosen = min(high, kind.versions.last) if wanted is None else wanted
    if not max(low, kind.versions.first) <= chosen <= high:
        raise KcliError(
            f"broker {broker.node_id} speaks {name} {low}-{high}, and kcli {kind.versions}; "
            + (f"not {wanted}" if wanted is not None else "there is no common version")
        )
    return chosen


def place(text: str | None) -> tuple[str, str]:
    """(any | controller | node | group | txn | leader, of what). Raises UsageError."""
    if text is None or text in ("any", "controller"):
        return text or "any", ""
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return "node", text
    what, _, name = text.partition(":")
    if what in ("group", "txn") and name:
        return what, name
    topic, _, number = name.rpartition(":")
    if what == "leader" and topic and number.isascii() and number.isdecimal() and len(number) < 10:
        return what, name
    raise UsageError(f"--broker {text}: expected any, controller, a broker's id, group:NAME, txn:ID or leader:TOPIC:0")


async def broker_of(cluster: Cluster, text: str | None) -> Broker:
    what, name = place(text)
    if what == "node":
        return await cluster.node(int(name))
    if what == "controller":
        return await cluster.controller()
    if what == "group":
        return await cluster.coordinator(Group(name))
    if what == "txn":
        return await cluster.coordinator(Transaction(name))
    if what == "leader":
        topic, _, number = name.rpartition(":")
        return await cluster.leader(TopicPartition(topic, int(number)))
    return await cluster.anyone()
