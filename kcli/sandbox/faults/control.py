"""Telling a sandbox in another process what to do wrong: lines of JSON over a connection on loopback.

A sandbox that takes faults listens on a port of its own and says where as the broker config `kcli.sandbox.control`:
`127.0.0.1:PORT/TOKEN`. Whoever may read its configs may inject faults; a real broker has no such config. A line is
{"token": …, "do": "look" | "fault" | "clear" | "stop" | "start", …}, and so is the answer: {"error": …} or what
`look` shows. It keeps listening when every broker is stopped, so that one can be started again.
"""

from __future__ import annotations

import asyncio
import hmac
import inspect
import json
import re
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

from kcli import codes
from kcli.errors import KcliError, UsageError
from kcli.sandbox.cluster.brokers import Brokers
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.faults.cluster import ClusterFaults
from kcli.sandbox.faults.faults import Faults
from kcli.sandbox.faults.logs import LogFaults
from kcli.sandbox.faults.planned import KEYS
from kcli.sandbox.faults.wire import RegistryFaults, WireFaults
from kcli.sandbox.wire.listener import Listener
from kcli.text.suggest import did_you_mean

LONGEST = 64 * 1024  # bytes of a line
DEEPEST = 100  # brackets of a line: deeply nested JSON goes beyond the interpreter's recursion
HOST = "127.0.0.1"
MOST = 16  # connections
PATIENCE = 10.0  # seconds for the first line
NAMESPACES: dict[str, type] = {
    "": Faults,
    "wire": WireFaults,
    "cluster": ClusterFaults,
    "logs": LogFaults,
    "registry": RegistryFaults,
}
NAMES = """
    error delay never_answer stop_reading close_before lose_answer cut_answer byte_by_byte wrong_correlation_id throttle
    refuse drop_connections move_leader no_leader stale_metadata absent move_coordinator rebalance forget_sessions
    corrupt forget_producers truncate recreate hang_transaction
    delay_registry fail_registry wrong_schema
""".split()
KINDS = {"str": "text", "int": "number", "float": "seconds", "bool": "yes or no", "ErrorCode": "error code"}
"""A parameter's annotation as people read it."""


class Control:
    """The listening side. `full` is called when the system gives no more files."""

    def __init__(self, faults: Faults, brokers: Brokers, topics: Topics, full: Callable[[OSError], None]) -> None:
        self._faults = faults
        self._brokers = brokers
        self._topics = topics
        self._full = full
        self._token = secrets.token_urlsafe(16)
        self._port = 0
        self._listener: Listener | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def address(self) -> str:
        """What the broker config says; "" before `start`."""
        return f"{HOST}:{self._port}/{self._token}" if self._listener is not None else ""

    async def start(self) -> None:
        """Listen on a free port of loopback."""
        listener = Listener(self._met, self._admits, self._full)
        self._port = await listener.open(HOST, 0)
        self._listener = listener

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._listener is not None:
            listener, self._listener = self._listener, None
            await listener.close()
        for writer in list(self._writers):
            writer.transport.abort()

    def _met(self) -> asyncio.StreamReaderProtocol:
        loop = asyncio.get_running_loop()
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(LONGEST, loop), self._serve, loop)

    def _admits(self) -> bool:
        return len(self._writers) < MOST

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            async with asyncio.timeout(PATIENCE):
                line = await reader.readline()
            while line:
                answer = await self._answer(line)
                if answer is None:
                    break  # whoever has no token hears nothing
                writer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
                await writer.drain()
                line = await reader.readline()
        except (ConnectionError, ValueError, TimeoutError):
            pass  # it is gone, its line has no end, or it says nothing
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, line: bytes) -> dict[str, Any] | None:
        if line.count(b"[") + line.count(b"{") > DEEPEST:
            return None
        try:
            message = json.loads(line)
            token = message["token"]
        except (ValueError, TypeError, KeyError):
            return None
        if not isinstance(token, str) or not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        try:
            await self._do(message)
        except LookupError as missing:
            return {"error": f"unknown group {missing.args[0]}"}
        except (KcliError, ValueError, OSError) as problem:
            return {"error": str(problem)}
        return self._state()

    async def _do(self, message: dict[str, Any]) -> None:
        what = message.get("do")
        if what == "fault":
            given = message.get("with") or {}
            if not isinstance(given, dict):
                raise UsageError("the parameters of a fault must be an object: values by name")
            call_of(self._faults, self._brokers, self._topics, str(message.get("name")), given)()
        elif what == "clear":
            self._faults.clear()
        elif what == "stop":
            await self._faults.cluster.stop_broker(_node(message))
        elif what == "start":
            node = _node(message)
            if not any(broker.node_id == node and broker.alive for broker in self._brokers):
                await self._faults.cluster.start_broker(node)
        elif what != "look":
            raise UsageError(f"a sandbox does not know how to {what!r}")

    def _state(self) -> dict[str, Any]:
        return {
            "brokers": [{"id": broker.node_id, "port": broker.port, "alive": broker.alive} for broker in self._brokers],
            "pending": self._faults.waiting(),
            "faults": rows(),
        }


def _node(message: dict[str, Any]) -> int:
    node = message.get("broker")
    if not isinstance(node, int):
        raise UsageError("missing argument: the number of a broker")
    return node


# The faults that another process may order, read off the methods of `Faults`: their names, parameters and words.
#
# Only faults with plain values as parameters are here; what takes a function or bytes is for tests in the same process.
def _namespace(name: str) -> str:
    """Where in `Faults` a fault is; "" for itself."""
    return next(space for space, kind in NAMESPACES.items() if hasattr(kind, name))


def _declared(name: str) -> Callable[..., object]:
    """The method, unbound."""
    method: Callable[..., object] = getattr(NAMESPACES[_namespace(name)], name)
    return method


def _bound(faults: Faults, name: str) -> Callable[..., object]:
    space = _namespace(name)
    method: Callable[..., object] = getattr(getattr(faults, space) if space else faults, name)
    return method


def _parameters(name: str) -> list[tuple[str, str, bool, Any]]:
    """(name, kind, whether it is required, default) of each parameter."""
    rows = []
    for parameter in list(inspect.signature(_declared(name)).parameters.values())[1:]:
        kind = str(parameter.annotation).removesuffix(" | None")
        needed = parameter.default is inspect.Parameter.empty
        rows.append((parameter.name, KINDS[kind], needed, None if needed else parameter.default))
    return rows


def rows() -> list[dict[str, Any]]:
    """Every fault: its name, its effect, and its parameters."""
    return [
        {
            "name": name,
            "text": _text(name),
            "parameters": [
                {"name": parameter, "kind": kind, "needed": needed, "default": default}
                for parameter, kind, needed, default in _parameters(name)
            ],
        }
        for name in NAMES
    ]


def _text(name: str) -> str:
    """What its docstring says, without the numbers of our rules."""
    words = (inspect.getdoc(_declared(name)) or "").split("\n\n")[0].replace("\n", " ")
    return re.sub(r" \([A-Z]\d+(, [A-Z]\d+)*\)", "", words)


def call_of(faults: Faults, brokers: Brokers, topics: Topics, name: str, given: dict[str, Any]) -> Callable[[], object]:
    """The fault, ready to be ordered. Raises UsageError for what it does not know or cannot be."""
    if name not in NAMES:
        raise UsageError(f"unknown fault {name}{did_you_mean(name, NAMES) or '; known: ' + ', '.join(NAMES)}")
    known = _parameters(name)
    for parameter in given.keys() - {parameter for parameter, *_ in known}:
        raise UsageError(f"{name} has no {parameter}{did_you_mean(parameter, [row[0] for row in known])}")
    values: dict[str, Any] = {}
    for parameter, kind, needed, _ in known:
        if given.get(parameter) not in (None, ""):
            values[parameter] = _value(parameter, kind, given[parameter])
        elif needed:
            raise UsageError(f"{name} needs {parameter}")
    _check(brokers, topics, values)
    return partial(_bound(faults, name), **values)


def _check(brokers: Brokers, topics: Topics, values: dict[str, Any]) -> None:
    """That what is named is there, before anything is ordered. Raises UsageError."""
    nodes = brokers.node_ids
    for parameter in ("broker", "to", "replica"):
        if parameter in values and values[parameter] not in nodes:
            raise UsageError(f"unknown broker {values[parameter]}; known: {', '.join(map(str, nodes))}")
    if "topic" in values:
        topic = topics.by_name.get(values["topic"])
        if topic is None:
            raise UsageError(f"there is no topic {values['topic']}{did_you_mean(values['topic'], topics.by_name)}")
        if "partition" in values and not 0 <= values["partition"] < len(topic.partitions):
            raise UsageError(f"{values['topic']} has partitions 0 to {len(topic.partitions) - 1}")


def _value(name: str, kind: str, given: object) -> object:
    text = str(given).strip()
    try:
        if kind == "number":
            return int(text)
        if kind == "seconds":
            seconds = float(text.removesuffix("s"))
            if not 0 <= seconds < 1e6:
                raise ValueError
            return seconds
    except ValueError:
        raise UsageError(f"{name} {text}: expected a {'number' if kind == 'number' else 'number of seconds'}") from None
    if kind == "yes or no":
        if text.lower() not in ("true", "false", "yes", "no"):
            raise UsageError(f"{name} {text}: expected yes or no")
        return text.lower() in ("true", "yes")
    if kind == "error code":
        return _code(text)
    if name == "api" and text not in KEYS:
        raise UsageError(f"unknown API {text}{did_you_mean(text, KEYS) or ', such as Fetch or Produce'}")
    return text


def _code(text: str) -> object:
    code = getattr(codes, text.upper(), None)
    if not isinstance(code, codes.ErrorCode):
        names = [name for name in dir(codes) if isinstance(getattr(codes, name), codes.ErrorCode)]
        raise UsageError(f"unknown error code {text}{did_you_mean(text, names)}")
    return code
