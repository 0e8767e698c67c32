"""A registry's client of the standard library: status and JSON of each answer."""

from __future__ import annotations

import asyncio
import http.client
import json
from typing import Any
from urllib.parse import urlsplit

INT = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
WITH_DEFAULT = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":1}]}'
WITHOUT = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}'


def ask(url: str, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
    """(status, JSON; text where it is none)."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=20)
    try:
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    try:
        return answer.status, json.loads(text)
    except ValueError:
        return answer.status, text


def register(url: str, subject: str, text: str, **more: object) -> tuple[int, Any]:
    return ask(url, "POST", f"/subjects/{subject}/versions", {"schema": text, **more})


async def raw(url: str, data: bytes, *, rest: bool = True) -> bytes:
    """What comes back for bytes that are sent, until the connection ends."""
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        writer.write(data)
        if rest:
            writer.write_eof()
        return await asyncio.wait_for(reader.read(), 20)
    except ConnectionError:
        return b""
    finally:
        writer.close()
