"""A process that writes transactions one after the other and says of each what became of it; to be killed at will.

    python -m tests.kafka.transactor BOOTSTRAP TOPIC PARTITIONS TRANSACTIONAL_ID FIRST SEED

Each line it prints is `begin N`, `committed N`, `aborted N` or `unknown N`; a transaction without an end was cut off by
a kill, and may have been committed or not. A record's value is `N.i of SIZE`. Whatever fails, it goes on with a new
producer of the same transactional id, as a service that is restarted does.
"""

from __future__ import annotations

import asyncio
import random
import sys

from kcli.client import Client
from kcli.errors import KcliError, UnknownOutcome
from kcli.producer.producer import Producer
from kcli.producer.transactions.state import AbortRequired, Fenced
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap


def say(word: str, number: int) -> None:
    sys.stdout.write(f"{word} {number}\n")
    sys.stdout.flush()


async def transaction(producer: Producer, topic: str, partitions: int, number: int, die: random.Random) -> None:
    """One transaction to its end. Raises what ends the producer."""
    size = die.choice([1, 5, 40])
    await producer.begin()
    say("begin", number)
    try:
        for i in range(size):
            partition = die.randrange(partitions)
            await producer.send(topic, b"%d.%d of %d" % (number, i, size), partition=partition)
        if die.random() < 0.25:
            if die.random() < 0.5:
                await producer.flush()
            await producer.abort()
            say("aborted", number)
            return
        await producer.commit()
        say("committed", number)
    except AbortRequired:
        await producer.abort()
        say("aborted", number)
    except UnknownOutcome:
        say("unknown", number)
        raise


async def write(bootstrap: str, topic: str, partitions: int, name: str, first: int, die: random.Random) -> None:
    settings = ProducerSettings(
        transactional_id=name, linger=0.002, transaction_timeout=10.0, compression=die.choice(["none", "lz4", "zstd"])
    )
    number = first
    while True:
        try:
            async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
                async with client.producer(settings) as producer:
                    while True:
                        await transaction(producer, topic, partitions, number, die)
                        number += 1
        except Fenced as problem:
            sys.stderr.write(f"{number}: {problem}\n")  # by its own successor, or it took too long: a new one goes on
        except KcliError as problem:
            sys.stderr.write(f"{number}: {problem}\n")
        number += 1


if __name__ == "__main__":
    asyncio.run(
        write(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5]), random.Random(sys.argv[6]))
    )
