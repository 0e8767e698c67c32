"""The port of a registry: connections, their limits, credentials, and the faults that were ordered."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from kcli.errors import BrokerError
from kcli.sandbox.registry import refusals
from kcli.sandbox.registry.names import DEFAULT
from kcli.sandbox.registry.refusals import Refused
from kcli.sandbox.registry.registry import Registry
from kcli.sandbox.registry.rest import http
from kcli.sandbox.registry.rest import schema_answers as schemas
from kcli.sandbox.registry.rest import setting_answers as settings
from kcli.sandbox.registry.rest.asked import Asked
from kcli.sandbox.registry.rest.schema_answers import Text
from kcli.sandbox.wire.listener import Listener

if TYPE_CHECKING:
    from ssl import SSLContext

    from kcli.sandbox.faults.wire import RegistryFaults

MOST = 256  # connections
IDLE = 60.0  # seconds until the next request's head is there
PATIENCE = 30.0  # seconds for a body, and for an answer to be taken
MOST_BODIES = 64 * 1024 * 1024  # bytes of all bodies that are being read
JSON_TYPE = "application/vnd.schemaregistry.v1+json"
SERVER = {"Server": "kcli-sandbox"}
Answer = Callable[[Registry, Asked], object]

ANSWERS: dict[str, Answer] = {
    "GET /": settings.root,
    "GET /subjects": schemas.subjects,
    "POST /subjects/{subject}": schemas.lookup,
    "DELETE /subjects/{subject}": schemas.delete_subject,
    "GET /subjects/{subject}/versions": schemas.versions,
    "POST /subjects/{subject}/versions": schemas.register,
    "GET /subjects/{subject}/versions/{version}": schemas.version,
    "DELETE /subjects/{subject}/versions/{version}": schemas.delete_version,
    "GET /subjects/{subject}/versions/{version}/schema": schemas.version_text,
    "GET /subjects/{subject}/versions/{version}/referencedby": schemas.referenced_by,
    "GET /schemas": schemas.schemas,
    "GET /schemas/types": schemas.types,
    "GET /schemas/ids/{id}": schemas.by_id,
    "GET /schemas/ids/{id}/schema": schemas.text_by_id,
    "GET /schemas/ids/{id}/subjects": schemas.subjects_by_id,
    "GET /schemas/ids/{id}/versions": schemas.versions_by_id,
    "GET /schemas/guids/{guid}": schemas.by_guid,
    "GET /schemas/guids/{guid}/ids": schemas.ids_by_guid,
    "POST /compatibility/subjects/{subject}/versions": settings.compatible_with_all,
    "POST /compatibility/subjects/{subject}/versions/{version}": settings.compatible,
    "GET /config": settings.level,
    "PUT /config": settings.set_level,
    "DELETE /config": settings.delete_level,
    "GET /config/{subject}": settings.level,
    "PUT /config/{subject}": settings.set_level,
    "DELETE /config/{subject}": settings.delete_level,
    "GET /mode": settings.mode,
    "PUT /mode": settings.set_mode,
    "DELETE /mode": settings.delete_mode,
    "GET /mode/{subject}": settings.mode,
    "PUT /mode/{subject}": settings.set_mode,
    "DELETE /mode/{subject}": settings.delete_mode,
    "GET /contexts": settings.contexts,
    "DELETE /contexts/{context}": settings.delete_context,
    "POST /associations": settings.create_association,
    "GET /associations/subjects/{subject}": settings.associations_of_subject,
    "GET /associations/resources/{namespace}/{name}": settings.associations_of_name,
    "GET /associations/resources/{id}": settings.associations_of_id,
    "DELETE /associations/resources/{id}": settings.delete_associations,
    "GET /v1/metadata/id": settings.identity,
    "GET /v1/metadata/version": settings.release,
}


class RegistryServer:
    """A registry on a port. `users` are passwords by name, None lets all in; `failed` gets what is a bug of ours."""

    def __init__(
        self,
        registry: Registry,
        faults: RegistryFaults,
        full: Callable[[OSError], None],
        failed: Callable[[Exception], None],
        users: Mapping[str, str] | None = None,
        tls: SSLContext | None = None,
    ) -> None:
        self._registry = registry
        self._faults = faults
        self._failed = failed
        self._users = users
        self._bodies = 0
        self._writers: dict[asyncio.StreamWriter, None] = {}  # the one that is idle for longest first
        self._busy: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listener = Listener(self._met, self._admits, full, tls)
        self._tls = tls is not None
        self.port = 0

    async def start(self, host: str, port: int) -> None:
        """Listen; port 0 takes a free one. Raises OSError."""
        self.port = await self._listener.open(host, port)

    async def close(self) -> None:
        """Stop listening and end all connections."""
        await self._listener.close()
        for writer in list(self._writers):
            writer.transport.abort()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def url(self, host: str) -> str:
        literal = f"[{host}]" if ":" in host else host
        return f"http{'s' if self._tls else ''}://{literal}:{self.port}"

    # -- connections ---------------------------------------------------------------------------------------------------

    def _met(self) -> asyncio.StreamReaderProtocol:
        loop = asyncio.get_running_loop()
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(http.HEAD, loop), self._begin, loop)

    def _admits(self) -> bool:
        """When all places are taken, the connection that is idle for longest makes room."""
        if len(self._writers) + self._listener.coming < MOST:
            return True
        idle = next((writer for writer in self._writers if writer not in self._busy), None)
        if idle is None:
            return self._listener.turn_away()
        del self._writers[idle]
        idle.transport.abort()
        return True

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers[writer] = None
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                self._busy.discard(writer)
                if writer in self._writers:
                    self._writers[writer] = self._writers.pop(writer)  # the last to be closed for room
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError):
            writer.transport.abort()  # it is gone, or says nothing
        except Exception as bug:  # noqa: BLE001 as in wire/connection.py: it fails the test that met it
            self._failed(bug)
            writer.transport.abort()
        finally:
            self._writers.pop(writer, None)
            self._busy.discard(writer)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer. Returns whether another one may follow."""
        keep = empty = False
        try:
            async with asyncio.timeout(IDLE):
                head = await http.read_head(reader)
            if head is None:
                return False
            self._busy.add(writer)
            body = await self._body(reader, writer, head)
            keep, empty = head.keep, head.method == "HEAD"
            status, kind, answer = await self._answer(head, body)
        except http.Malformed as wrong:
            status, kind, answer = wrong.status, JSON_TYPE, _problem(wrong.status, str(wrong))
        headers = {**SERVER, "Content-Type": kind}
        if status == 401:
            headers["WWW-Authenticate"] = 'Basic realm="schema-registry"'
        writer.write(http.answer(status, answer, headers, keep=keep, empty=empty))
        async with asyncio.timeout(PATIENCE):
            await writer.drain()
        return keep

    async def _body(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: http.Head) -> bytes:
        size = http.LARGEST if head.length < 0 else head.length
        if self._bodies + size > MOST_BODIES:
            raise http.Malformed(503, "the registry is reading as many bodies as it may")
        if size and head.headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._bodies += size
        try:
            async with asyncio.timeout(PATIENCE):
                return await http.read_body(reader, head)
        finally:
            self._bodies -= size

    # -- answers -------------------------------------------------------------------------------------------------------

    async def _answer(self, head: http.Head, body: bytes) -> tuple[int, str, bytes]:
        """(status, content type, body)."""
        try:
            self._let_in(head)
            parts, pairs = _target(head.target)
            await self._faults.happen(f"/{'/'.join(parts)}")
            asked = Asked(pairs=pairs, body=body)
            found = find("GET" if head.method == "HEAD" else head.method, parts, asked)
            value = self._faults.answered(parts) or found(self._registry, asked)
            if value is None:
                return 204, JSON_TYPE, b""
        except Refused as refused:
            return refused.status, JSON_TYPE, _problem(refused.code, str(refused))
        except BrokerError as refused:  # by the disk
            return 500, JSON_TYPE, _problem(50001, str(refused))
        if isinstance(value, Text):
            return 200, "application/json", value.encode()
        return 200, JSON_TYPE, _json(value)

    def _let_in(self, head: http.Head) -> None:
        """Raises Refused."""
        if self._users is None:
            return
        scheme, _, given = head.headers.get("authorization", "").partition(" ")
        try:
            name, _, password = base64.b64decode(given.strip(), validate=True).decode().partition(":")
        except ValueError:
            name = password = ""
        wanted = self._users.get(name)
        if scheme.lower() != "basic" or wanted is None or not hmac.compare_digest(password.encode(), wanted.encode()):
            raise Refused(401, 401, "Unauthorized")


def _target(target: str) -> tuple[list[str], list[tuple[str, str]]]:
    """(parts of the path, query), decoded. Raises Refused."""
    try:
        split = urlsplit(target)
        parts = [unquote(part, errors="strict") for part in split.path.split("/") if part]
        pairs = parse_qsl(split.query, keep_blank_values=True, max_num_fields=50, errors="strict")
    except ValueError:
        raise refusals.malformed("the address cannot be read") from None
    return parts, pairs


def _problem(code: int, message: str) -> bytes:
    return _json({"error_code": code, "message": message})


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)


_TABLE = [(*line.partition(" ")[::2], answer) for line, answer in ANSWERS.items()]
_PATTERNS = [(method, _parts(path), answer) for method, path, answer in _TABLE]


def find(method: str, parts: Sequence[str], asked: Asked) -> Answer:
    """The answer to a request by the parts of its path, each decoded; `asked` gets the names in it and the context of
    the address. Raises Refused."""
    if len(parts) > 2 and parts[0] == "contexts":
        asked.context, parts = parts[1].strip(":") or DEFAULT, parts[2:]
    known = False
    for own, pattern, answer in _PATTERNS:
        if len(pattern) != len(parts):
            continue
        pairs = list(zip(pattern, parts, strict=True))
        if all(one[:1] == "{" or one == part for one, part in pairs):
            known = True
            if own == method:
                asked.names = {one[1:-1]: part for one, part in pairs if one[:1] == "{"}
                return answer
    if known:
        raise refusals.Refused(405, 405, "HTTP 405 Method Not Allowed")
    raise refusals.no_such_request()
