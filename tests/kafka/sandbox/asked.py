"""The same odd requests to a real Kafka and to a sandbox, each table on a connection of its own."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kcli.broker.guard import READING
from kcli.cli.commands.raw.body import request_of
from kcli.errors import KcliError
from kcli.proto.as_json import to_json
from kcli.proto.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kcli.proto.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from kcli.proto.messages.find_coordinator import FindCoordinatorRequest
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.proto.session import ClientSession
from tests.kafka.sandbox.answered import differences, fits, kept, masked
from tests.kafka.sandbox.odd_requests import NewTopic, OddRequest, with_values

PATIENCE = 20.0  # seconds for one answer
SETTLED = 3.0  # seconds until two answers have to agree
NOT_YET = {14, 15, 16, 51}  # the coordinator is loading, is not there yet, moved; a transaction is still being ended
SPREAD = 0.5  # seconds until each of the coordinator's 50 parts has heard of a topic that the coordinator knows
FETCH, UNKNOWN_TOPIC = 1, 3
Paths = dict[str, tuple[Any, Any]]


class Side:
    """One cluster and what its answers gave: ids of topics, kept values. A connection to each broker that is asked."""

    def __init__(self, ports: Sequence[int]) -> None:
        self.known: dict[str, Any] = {}
        self._asked = [Asked(port) for port in ports]

    async def close(self) -> None:
        for one in self._asked:
            await one.close()

    async def ask(self, kind: Any, version: int, body: Any, node: int = 1) -> Any:
        """The answer of a broker as JSON; what happened instead is told in the same form."""
        return await self._asked[node - 1].ask(kind, version, body)

    async def topic(self, new: NewTopic, word: str) -> None:
        """Create a topic and wait for its leaders, and until the group coordinator knows it; its id is known
        afterwards."""
        name = new.name.replace("~", word)
        asked = CreatableTopic(
            name=name, num_partitions=new.partitions, replication_factor=1,
            configs=[CreatableTopicConfig(name=key, value=value) for key, value in new.configs.items()],
        )  # fmt: skip
        await self.ask(CreateTopicsRequest, 7, to_json(CreateTopicsRequest(topics=[asked]), 7))
        question = to_json(MetadataRequest(topics=[MetadataRequestTopic(name=name)]), 12)
        for _ in range(200):
            (row,) = (await self.ask(MetadataRequest, 12, question))["topics"]
            if not row["errorCode"] and not any(one["errorCode"] for one in row["partitions"]):
                self.known[f"id {name}"] = row["topicId"]
                break
            await asyncio.sleep(0.03)
        else:
            raise AssertionError(f"no leader of {name}")
        topics = [DescribeShareGroupOffsetsRequestTopic(topic_name=name, partitions=[0])]
        groups = [DescribeShareGroupOffsetsRequestGroup(group_id="nobody", topics=topics)]
        question = to_json(DescribeShareGroupOffsetsRequest(groups=groups), 1)
        for _ in range(200):
            (group,) = (await self.ask(DescribeShareGroupOffsetsRequest, 1, question))["groups"]
            if not any(one["errorCode"] == UNKNOWN_TOPIC for row in group["topics"] for one in row["partitions"]):
                await asyncio.sleep(SPREAD)
                return
            await asyncio.sleep(0.03)
        raise AssertionError(f"the group coordinator does not know {name}")


class Asked:
    """A connection to one broker, opened again when the broker closed it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._writer: asyncio.StreamWriter | None = None

    async def connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 26)
        self._session = ClientSession("odd")

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    async def ask(self, kind: Any, version: int, body: Any) -> Any:
        """The answer as JSON; what happened instead is told in the same form."""
        if self._writer is None:
            await self.connect()
        assert self._writer is not None
        if isinstance(body, bytes):
            frame = self._frame(kind, version, body)
        else:
            frame = b"".join(self._session.send(request_of(kind, version, body), version))
        try:
            async with asyncio.timeout(PATIENCE):
                self._writer.write(frame)
                size = int.from_bytes(await self._reader.readexactly(4), "big")
                asked, response = self._session.receive(await self._reader.readexactly(size))
        except (EOFError, ConnectionError):
            await self.close()
            return {"connection": "closed"}
        except TimeoutError:
            await self.close()
            return {"connection": f"no answer in {PATIENCE:g} s"}
        except KcliError as problem:
            await self.close()
            return {"connection": f"not decoded: {problem}"}
        return to_json(response, asked.version)

    def _frame(self, kind: Any, version: int, body: bytes) -> bytes:
        """A request with any body, at any version: one that is not declared here has the newest one's header."""
        declared = min(max(version, kind.versions.first), kind.versions.last)
        whole = b"".join(self._session.send(kind(), declared))
        head = len(whole) - sum(map(len, kind().encode(declared)))
        return struct.pack(">ihh", head - 4 + len(body), kind.api_key, version) + whole[8:head] + body


@dataclass(frozen=True)
class Compared:
    """A request, and where its two answers differ."""

    request: OddRequest
    paths: Paths
    kafka: Any
    sandbox: Any


async def coordinators(ports: Sequence[int]) -> None:
    """Make the coordinators' topics, which the first question for one does."""
    side = Side(ports)
    for kind, key in ((0, "g"), (1, "t"), (2, f"g:{'A' * 22}:0")):
        body = to_json(FindCoordinatorRequest(key_type=kind, coordinator_keys=[key]), 6)
        for _ in range(200):
            if not (await side.ask(FindCoordinatorRequest, 6, body))["coordinators"][0]["errorCode"]:
                break
            await asyncio.sleep(0.05)
    await side.close()


async def compared(
    kafka: Sequence[int], sandbox: Sequence[int], lines: list[OddRequest | NewTopic], word: str,
    expected: Callable[[str], set[str]],
) -> list[Compared]:  # fmt: skip
    """Play a table on both. `expected` says which paths of a request are known to differ."""
    left, right = Side(kafka), Side(sandbox)
    results = []
    for line in lines:
        if isinstance(line, NewTopic):
            await asyncio.gather(left.topic(line, word), right.topic(line, word))
        else:
            results.append(await _one(left, right, line, word, expected(line.name)))
    await left.close()
    await right.close()
    return results


async def _one(left: Side, right: Side, line: OddRequest, word: str, listed: set[str]) -> Compared:
    repeats = line.settles or (line.kind.api_key in READING and line.kind.api_key != FETCH)
    deadline = time.monotonic() + SETTLED
    while True:
        answers = await asyncio.gather(_answer(left, line, word), _answer(right, line, word))
        one, other = (masked(answer) for answer in answers)
        found = differences(one, other)
        again = _other(found, listed) and repeats
        if not again or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.05)
    for side, answer in zip((left, right), answers, strict=True):
        for name, path in line.keeps.items():
            side.known[name] = kept(answer, path)
    return Compared(line, found, one, other)


def _other(found: Paths, listed: set[str]) -> bool:
    """Whether there are differences that are not listed."""
    return any(not any(fits(path, pattern) for pattern in listed) for path in found)


async def _answer(side: Side, line: OddRequest, word: str) -> Any:
    """The answer of a broker that is ready to give one."""
    deadline = time.monotonic() + SETTLED
    while True:
        if line.body.startswith("hex:"):
            text = line.body.removeprefix("hex:").replace("~", word.encode().hex())
            answer = await side.ask(line.kind, line.version, bytes.fromhex(text), line.node)
        else:
            answer = await side.ask(line.kind, line.version, with_values(line.body, word, side.known), line.node)
        if not _not_yet(answer) or time.monotonic() > deadline:
            return answer
        await asyncio.sleep(0.05)


def _not_yet(thing: Any) -> bool:
    if isinstance(thing, list):
        return any(map(_not_yet, thing))
    if isinstance(thing, dict):
        return any(value in NOT_YET if name == "errorCode" else _not_yet(value) for name, value in thing.items())
    return False
