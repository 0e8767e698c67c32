"""Commands read committed records, unless they are told otherwise, and name the transaction that they wait for."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import Iterator
from functools import partial

import pytest

from kcli import codes
from kcli.cli.runtime import undecided
from kcli.cli.runtime.undecided import Waiting, say_ends
from kcli.client import Client
from kcli.consumer.held_back import HeldBack
from kcli.model import TopicPartition
from kcli.sandbox import Sandbox
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, ConsumerSettings, parse_bootstrap
from tests.programs import Result, kcli
from tests.undecided import ABORTED, COMMITTED, END, STABLE, UNDECIDED, undecided_topic

ALL = sorted([*COMMITTED, *ABORTED, *UNDECIDED])
HELD = TopicPartition("t", 0)
WHY = (
    f"t[0] {{}} at offset {STABLE}: 2 offsets are undecided, because {{}} is open; --isolation read_uncommitted "
    f"reads such records, too\n"
)


@pytest.fixture
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(control=True) as one:
        yield one


async def run(sandbox: SandboxThread, *words: str, **env: str) -> Result:
    settings = {"KCLI_BOOTSTRAP": sandbox.bootstrap, **env}
    return await asyncio.to_thread(kcli, *words, env=settings)


@pytest.mark.process
async def test_all_commands_see_the_same_records_of_a_topic(sandbox: SandboxThread) -> None:
    async with undecided_topic(sandbox.bootstrap, "t", "pay-1") as producer:
        read, last, counted, copied, cat = await asyncio.gather(
            run(sandbox, "consume", "t", "-e"),
            run(sandbox, "tail", "t", "-n", "100", "--no-follow"),
            run(sandbox, "count", "t"),
            run(sandbox, "copy", "t", "copied", "--create"),
            run(sandbox, "cat", "-C", "-t", "t", "-e", "-q", "-b", sandbox.bootstrap),
        )
        for done in (read, last, counted, copied):
            assert (done.code, WHY.format("ends", "transaction pay-1") in done.err) == (0, True), done
        assert sorted(read.out.split()) == sorted(last.out.split()) == sorted(cat.out.split()) == COMMITTED
        assert counted.out == b"3\n"
        everything = ("--isolation", "read_uncommitted")
        read, last, counted, copied, quiet, two, by_property, end = await asyncio.gather(
            run(sandbox, "consume", "t", "-e", *everything),
            run(sandbox, "tail", "t", "-n", "100", "--no-follow", *everything),
            run(sandbox, "count", "t", *everything),
            run(sandbox, "count", "copied"),
            run(sandbox, "count", "t", "-q"),
            run(sandbox, "tail", "t", "-n", "2", "--no-follow", "-q"),
            run(sandbox, "count", "t", KCLI_ISOLATION_LEVEL="read_uncommitted"),
            run(sandbox, "count", "t", "-o", "0:8"),
        )
        assert sorted(read.out.split()) == sorted(last.out.split()) == ALL
        assert (counted.out, counted.err, by_property.out) == (b"9\n", "", b"9\n")
        assert (copied.out, quiet.out, quiet.err) == (b"3\n", b"3\n", "")
        assert sorted(two.out.split()) == COMMITTED[1:]
        assert end.out == b"3\n"
        past = ("-p", "0", "-o", str(STABLE + 1))
        ended, left = await asyncio.gather(
            run(sandbox, "consume", "t", *past, "-e", "-q"),
            run(sandbox, "cat", "-C", "-t", "t", *past, "-e", "-q", "-b", sandbox.bootstrap),
        )
        assert (ended.code, ended.out, left.code, left.out) == (0, b"", 0, b"")
        follower = asyncio.create_task(run(sandbox, "consume", "t", *past, "-n", "1"))
        await asyncio.sleep(1.0)
        assert not follower.done()
        await run(sandbox, "groups", "reset", "--create", "g", "-t", "t", "--to", "beginning", "--execute")
        for isolation, records in (((), 5), (everything, 9), (("--isolation", "read_committed"), 3)):
            lag = await run(sandbox, "lag", "g", "--by", "group", "--records", "--format", "csv", *isolation)
            (row,) = csv.DictReader(lag.out.decode().splitlines())
            assert row["records"] == str(records), "aborted records never come, undecided ones may"
        await producer.commit()
        assert (await follower).out == b"d0\n", "it begins where -o says, not at the last stable offset"


async def test_a_consumer_that_waits_names_the_transaction(
    sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(undecided, "LONG", 0.2)
    monkeypatch.setattr(undecided, "LOOK", 0.02)
    async with (
        undecided_topic(sandbox.bootstrap, "t", "pay-1") as producer,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
        client.consumer(settings=ConsumerSettings(isolation="read_committed")) as consumer,
    ):
        consumer.assign({HELD: 0, TopicPartition("t", 1): 0})
        seen: list[bytes | None] = []

        async def read(until: int) -> None:
            async with asyncio.timeout(10):
                while len(seen) < until:
                    for fetched in await consumer.poll():
                        seen.extend(record.value for batch in fetched.batches for record in batch)

        async with Waiting(client.cluster, consumer):
            await read(3)
            said = ""
            async with asyncio.timeout(10):
                while not said:
                    await asyncio.sleep(0.02)
                    said = capsys.readouterr().err
            assert said == "kcli: " + WHY.format("waits", "transaction pay-1")
            assert consumer.undecided() == {HELD: (STABLE, END)}
            await asyncio.sleep(0.5)
            assert capsys.readouterr().err == "", "it is said once"
            await producer.commit()
            await read(5)
            await asyncio.sleep(0.1)
            assert consumer.undecided() == {}
        assert sorted(filter(None, seen)) == sorted(COMMITTED + UNDECIDED)


def test_only_what_stays_at_one_offset_is_waiting() -> None:
    standstill, other = HeldBack(), TopicPartition("t", 1)
    assert standstill.lasting({HELD: (7, 9), other: (1, 2)}, 100.0, 5.0) == {}
    assert standstill.lasting({HELD: (7, 12), other: (4, 5)}, 104.9, 5.0) == {}
    assert standstill.lasting({HELD: (7, 12), other: (4, 5)}, 105.0, 5.0) == {HELD: (7, 12)}
    assert standstill.lasting({other: (4, 9)}, 110.0, 5.0) == {other: (4, 9)}
    assert standstill.lasting({HELD: (7, 12)}, 111.0, 5.0) == {}, "it read on meanwhile"


def refuse(api: str, inside: Sandbox) -> None:
    inside.faults.error(api, codes.TOPIC_AUTHORIZATION_FAILED)


async def test_a_transaction_that_may_not_be_asked_for_is_not_named(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))
    async with undecided_topic(sandbox.bootstrap, "t", "pay-1"), Client(settings) as client:
        refused = {"DescribeProducers": "a transaction", "ListTransactions": "a transaction of producer id "}
        for api, named in refused.items():
            sandbox.call(partial(refuse, api))
            await say_ends(client.cluster, {HELD: (STABLE, END)})
            said = capsys.readouterr().err
            assert said.startswith(f"kcli: t[0] ends at offset {STABLE}: 2 offsets are undecided, because {named}"), (
                said
            )
            assert "pay-1" not in said
            sandbox.call(lambda inside: inside.faults.clear())
