"""What a line of `kcli raw` names and says: the API, and its request as JSON."""

from __future__ import annotations

from json import JSONDecodeError, loads
from typing import Any

from kcli.admin.cluster.quorum import controller_of
from kcli.cli.documents.input_file import read_text
from kcli.errors import KcliError, UsageError
from kcli.model import Broker, Cluster, Group, TopicPartition, Transaction
from kcli.proto.as_json import from_json
from kcli.proto.messages import REQUESTS, request_type
from kcli.proto.messages.api_versions import ApiVersionsRequest, versions_request
from kcli.proto.protobuf_code import camel
from kcli.proto.schema import Request
from kcli.system.files import TEXT


def find_api(word: str) -> type[Request[Any]]:
    """The request of an API by its name, as it comes, or its key. Raises UsageError."""
    names = {name.lower(): key for key, (_, name) in REQUESTS.items()}
    key = int(word) if word.isascii() and word.isdecimal() and len(word) < 6 else None
    if key is None:
        folded = word.lower().replace("_", "").replace("-", "").removesuffix("request")
        key = names.get(folded)
    kind = request_type(key) if key is not None else None
    if kind is None:
        from kcli.text.suggest import did_you_mean

        near = did_you_mean(word, [name for _, name in REQUESTS.values()])
        raise UsageError(f"unknown API {word}{near or '; all of them: kcli raw --list'}")
    return kind


def name_of(kind: type[Request[Any]]) -> str:
    return kind.__name__.removesuffix("Request")


def read_body(text: str | None) -> Any:
    """The JSON of an argument, of @FILE, of stdin; nothing at all is {}. Raises UsageError."""
    where = "the body"
    if text is None:
        return {}
    if text == "-":
        where, text = "stdin", read_text("-", TEXT, "stdin")
    elif text.startswith("@"):
        where = text[1:]
        text = read_text(where, TEXT)
    try:
        return loads(text, parse_constant=_no_number, object_pairs_hook=_once)
    except JSONDecodeError as problem:
        raise UsageError(
            f"{where} is not JSON: {problem.msg} (line {problem.lineno}, column {problem.colno})"
        ) from None
    except RecursionError:
        raise UsageError(f"{where} is nested too deeply") from None
    except ValueError:  # Python reads no number of more than 4300 digits
        raise UsageError(f"{where} has a number that is too long") from None


def _no_number(text: str) -> Any:
    raise UsageError(f"{text} is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    whole = dict(pairs)
    if len(whole) < len(pairs):
        twice = next(name for n, (name, _) in enumerate(pairs) if name in dict(pairs[:n]))
        raise UsageError(f"{twice} is given twice in one object")
    return whole


def request_of(kind: type[Request[Any]], version: int, body: Any) -> Request[Any]:
    """The request. Raises UsageError for what this version cannot say."""
    request: Request[Any] = from_json(kind, version, body)  # type: ignore[assignment]
    if isinstance(request, ApiVersionsRequest):  # a broker refuses one without the client's name (KIP-511)
        for name in ("client_software_name", "client_software_version"):
            if name not in body and camel(name) not in body:
                setattr(request, name, getattr(versions_request(), name))
    try:
        request.encode(version)
    except KcliError as problem:
        raise UsageError(f"{problem}; see kcli raw --describe {name_of(kind)} --api-version {version}") from None
    return request


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
    """The broker that --broker names. Raises UsageError."""
    what, name = place(text)
    if what == "node":
        return await cluster.node(int(name))
    if what == "controller":
        leader = await controller_of(cluster, -1)
        reachable = leader in {node.id for node in await cluster.nodes()}
        return await (cluster.node(leader) if reachable else cluster.controller())
    if what == "group":
        return await cluster.coordinator(Group(name))
    if what == "txn":
        return await cluster.coordinator(Transaction(name))
    if what == "leader":
        topic, _, number = name.rpartition(":")
        return await cluster.leader(TopicPartition(topic, int(number)))
    return await cluster.anyone()
