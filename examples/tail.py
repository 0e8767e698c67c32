"""Follow a topic of JSON objects, from some records before its end, and print the records of one user.

    kcli sandbox --port 9092 --topic events &
    echo '{"user": "ann", "page": "/"}' | kcli produce events
    python examples/tail.py localhost:9092 events ann

Ctrl-C ends it.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

import kcli
from kcli.formats import json

BEFORE = kcli.Bound("relative", 1000)  # records before the end of each partition


def main(bootstrap: str, topic: str, user: str) -> None:
    with (
        kcli.SyncClient(bootstrap) as kafka,
        kafka.consumer(topic, start=BEFORE, value=json(errors="skip")) as consumer,  # what is no JSON is passed over
    ):
        for message in consumer:
            event: dict[str, Any] = message.value
            if event.get("user") == user:
                print(f"{topic}[{message.partition}] {message.offset}: {event}", flush=True)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main(*sys.argv[1:])
