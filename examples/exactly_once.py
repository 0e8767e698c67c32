"""From topic to topic, exactly once: what is read, what is written and the group's positions are one transaction.

    kcli sandbox --port 9092 --topic orders --topic bills &
    seq 1000 | kcli produce orders
    python examples/exactly_once.py localhost:9092 orders bills billing
    kcli consume bills -e -X isolation.level=read_committed

It ends when nothing has come for ten seconds. Kill it and start it again: no bill is missing, and none is there twice.
"""

from __future__ import annotations

import sys

import kcli


def bill(message: kcli.Message) -> bytes:
    return b"bill for " + (message.value or b"")


def main(bootstrap: str, source: str, target: str, group: str) -> None:
    reading = kcli.ConsumerSettings(isolation="read_committed")
    sending = kcli.ProducerSettings(transactional_id=group)
    with (
        kcli.SyncClient(bootstrap) as kafka,
        kafka.producer(sending) as producer,
        kafka.consumer(source, group=group, settings=reading) as consumer,
    ):
        count = -1
        while count:
            with consumer.transaction(producer, timeout=10, max_records=10_000) as messages:
                producer.send_records(target, [(None, None, one.key, bill(one), ()) for one in messages])
            count = len(messages)
            print(count, "done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
