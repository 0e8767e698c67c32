"""Commands and kcat count the same records of a topic with committed, aborted and undecided ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.kafka.cluster import Kafka
from tests.programs import Result, kcat, kcli
from tests.undecided import ABORTED, COMMITTED, STABLE, UNDECIDED, undecided_topic


@pytest.mark.needs("kcat")
@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
async def test_commands_and_kcat_see_the_same_records(
    kafka: Kafka, topic_name: Callable[[], str], isolation: str
) -> None:
    topic = topic_name()
    option = () if isolation == "read_committed" else ("--isolation", isolation)

    async def run(*words: str) -> Result:
        done = await asyncio.to_thread(kcli, *words, "-b", kafka.bootstrap)
        assert done.code == 0, (words, done)
        return done

    async with undecided_topic(kafka.bootstrap, topic, f"pay-{topic}"):
        theirs = await asyncio.to_thread(
            kcat, "-b", kafka.bootstrap, "-C", "-t", topic, "-e", "-q", "-X", f"isolation.level={isolation}"
        )
        read = await run("consume", topic, "-e", *option)
        last = await run("tail", topic, "-n", "100", "--no-follow", *option)
        counted = await run("count", topic, *option)
        copied = await run("copy", topic, f"{topic}-copied", "--create", *option)
        again = await run("count", f"{topic}-copied")
        cat = await run("cat", "-C", "-t", topic, "-e", "-q", "-X", f"isolation.level={isolation}")
    want = sorted(COMMITTED if isolation == "read_committed" else [*COMMITTED, *ABORTED, *UNDECIDED])
    assert sorted(theirs.out.split()) == want
    assert sorted(read.out.split()) == sorted(last.out.split()) == sorted(cat.out.split()) == want
    assert counted.out.strip() == again.out.strip() == b"%d" % len(want)
    why = (
        f"kcli: {topic}[0] ends at offset {STABLE}: 2 offsets are undecided, because transaction pay-{topic} is open; "
        "--isolation read_uncommitted reads such records, too\n"
    )
    for done in (read, last, counted, copied):
        assert (why in done.err) == (isolation == "read_committed"), done


async def test_a_reader_that_follows_says_for_which_transaction_it_waits(
    kafka: Kafka, topic_name: Callable[[], str]
) -> None:
    topic = topic_name()
    async with undecided_topic(kafka.bootstrap, topic, f"pay-{topic}"):
        done = await asyncio.to_thread(kcli, "consume", topic, "--timeout", "9s", "-b", kafka.bootstrap)
    assert sorted(done.out.split()) == COMMITTED
    assert (
        f"{topic}[0] waits at offset {STABLE}: 2 offsets are undecided, because transaction pay-{topic} is" in done.err
    )
