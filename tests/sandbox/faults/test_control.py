"""A sandbox that may be told to fail from outside: who may, what is understood, what is refused."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from kcli import codes
from kcli.client import Client
from kcli.errors import ConnectError, KcliError
from kcli.sandbox import Sandbox
from kcli.sandbox.faults.control import NAMES, rows
from kcli.sandbox.faults.control_client import NotASandbox, find, tell
from kcli.settings import ClientSettings, parse_bootstrap

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(topics={"orders": 2}, brokers=2, control=True) as made:
        yield made


def client(sandbox: Sandbox) -> Client:
    return Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap)))


async def address(sandbox: Sandbox) -> str:
    async with client(sandbox) as one:
        return await find(one.cluster)


async def test_it_is_found_by_whoever_may_read_its_configs(sandbox: Sandbox) -> None:
    where = await address(sandbox)
    told = await tell(where, "look")
    assert [one["alive"] for one in told["brokers"]] == [True, True]
    assert told["pending"] == []
    assert [one["name"] for one in told["faults"]] == list(NAMES)


async def test_a_sandbox_that_was_not_asked_to_has_none() -> None:
    async with Sandbox() as quiet, client(quiet) as one:
        with pytest.raises(NotASandbox):
            await find(one.cluster)


async def test_an_ordered_fault_happens_and_is_pending_until_then(sandbox: Sandbox) -> None:
    where = await address(sandbox)
    told = await tell(where, "fault", name="error", given={"api": "Metadata", "code": "unknown_topic_or_partition",
                                                           "topic": "orders", "times": "1"})  # fmt: skip
    assert told["pending"] == [
        {"fault": "error", "api": "Metadata", "what": "UNKNOWN_TOPIC_OR_PARTITION", "times": 1, "broker": None,
         "topic": "orders", "partition": None}
    ]  # fmt: skip
    assert sandbox.faults.planned.code(3, 1, "orders") is codes.UNKNOWN_TOPIC_OR_PARTITION
    assert (await tell(where, "look"))["pending"] == []


async def test_what_was_ordered_is_taken_back(sandbox: Sandbox) -> None:
    where = await address(sandbox)
    await tell(where, "fault", name="never_answer", given={"api": "Fetch", "times": 7})
    await tell(where, "fault", name="stale_metadata", given={"broker": 1})
    assert [one["fault"] for one in (await tell(where, "look"))["pending"]] == [
        "never_answer",
        "stale_metadata",
    ]
    assert (await tell(where, "clear"))["pending"] == []


async def test_brokers_are_killed_and_started_and_the_last_one_too(sandbox: Sandbox) -> None:
    where = await address(sandbox)
    for node in (1, 2):
        await tell(where, "stop", broker=node)
    assert [one["alive"] for one in (await tell(where, "look"))["brokers"]] == [False, False]
    told = await tell(where, "start", broker=1)
    assert [one["alive"] for one in told["brokers"]] == [True, False]
    async with client(sandbox) as one:
        assert await one.cluster.partitions("orders")


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("eror", {}, "unknown fault eror; did you mean error"),
        ("delay", {"api": "Fetch"}, "delay needs seconds"),
        ("delay", {"api": "Fetsh", "seconds": "1"}, "unknown API Fetsh; did you mean Fetch"),
        ("delay", {"api": "Fetch", "seconds": "soon"}, "seconds soon: expected a number of seconds"),
        ("delay", {"api": "Fetch", "seconds": "1", "tims": "1"}, "delay has no tims; did you mean times"),
        ("error", {"api": "Fetch", "code": "NOPE"}, "unknown error code NOPE"),
        ("corrupt", {"topic": "ordes"}, "there is no topic ordes; did you mean orders"),
        ("no_leader", {"topic": "orders", "partition": "9"}, "orders has partitions 0 to 1"),
        ("refuse", {"broker": "9"}, "unknown broker 9"),
        ("rebalance", {"group": "nobody"}, "unknown group nobody"),
        ("refuse", {"times": "x"}, "times x: expected a number"),
        ("move_leader", {"topic": "orders", "partition": "0", "to": "1", "hint": "perhaps"}, "expected yes or no"),
    ],
)
async def test_what_makes_no_sense_is_refused_with_a_sentence(
    sandbox: Sandbox, name: str, given: dict[str, str], sentence: str
) -> None:
    with pytest.raises(KcliError, match=sentence):
        await tell(await address(sandbox), "fault", name=name, given=given)
    assert sandbox.faults.pending == 0


async def test_who_has_no_token_hears_nothing(sandbox: Sandbox) -> None:
    where = await address(sandbox)
    place = where.partition("/")[0]
    with pytest.raises(ConnectError, match="hung up"):
        await tell(f"{place}/wrong", "clear")
    for line in (b"GET / HTTP/1.1\r\n", b"{}\n", b"[1]\n", b"\xff\xfe\n", b'{"token": 7}\n', b"x" * 100_000 + b"\n"):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(place.rpartition(":")[2]))
        writer.write(line)
        assert await asyncio.wait_for(_rest(reader), 10) == b""
        writer.close()


async def _rest(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def test_an_unknown_wish_is_refused(sandbox: Sandbox) -> None:
    where = await address(sandbox)
    with pytest.raises(KcliError, match="does not know how to 'explode'"):
        await tell(where, "explode")
    with pytest.raises(KcliError, match="missing argument: the number of a broker"):
        await tell(where, "stop")


async def test_a_cluster_that_names_another_machine_is_not_believed(sandbox: Sandbox) -> None:
    assert sandbox.cluster.control is not None
    async with client(sandbox) as one:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(sandbox.cluster.control), "address", property(lambda _: "10.0.0.1:80/token"))
            with pytest.raises(NotASandbox):
                await find(one.cluster)


def test_every_fault_is_described_in_plain_values() -> None:
    assert json.loads(json.dumps(rows())) == rows()
    assert all(row["text"] for row in rows())


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 60_000,
        b'{"token":' + b"[" * 50_000,
        b"{}",
        b'{"token":"\\ud800"}',
        b'{"token":1}',
        b"\xff\xfe",
        b'["token"]',
    ],
    ids=lambda line: str(line[:20]),
)
async def test_what_is_no_line_for_it_ends_the_connection_and_nothing_else(sandbox: Sandbox, line: bytes) -> None:
    wrong: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
    assert sandbox.cluster.control is not None
    host, _, port = sandbox.cluster.control.address.partition("/")[0].partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(line + b"\n")
    assert await asyncio.wait_for(reader.read(), 30) == b""
    writer.close()
    assert wrong == []
    assert (await tell(await address(sandbox), "look"))["pending"] == []


@pytest.mark.parametrize(
    "told", ['"with":3', '"with":[1]', '"do":[]', '"do":"fault","name":{},"with":{"a":1}', '"do":7']
)
async def test_an_order_that_makes_no_sense_is_a_sentence(sandbox: Sandbox, told: str) -> None:
    assert sandbox.cluster.control is not None
    where, _, token = sandbox.cluster.control.address.partition("/")
    host, _, port = where.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    order = "" if '"do"' in told else '"do":"fault","name":"error",'
    writer.write(f'{{"token":"{token}",{order}{told}}}\n'.encode())
    answer = json.loads(await asyncio.wait_for(reader.readline(), 30))
    writer.close()
    assert answer["error"]
