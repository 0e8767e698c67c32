"""Create a topic, change a config, print the lag of a group, and delete the records that it has read.

    kcli sandbox --port 9092 --topic orders &
    seq 1000 | kcli produce orders && kcli consume orders -g billing --from-beginning -c 700 > /dev/null
    python examples/administration.py localhost:9092 archive billing

Deleted records cannot be brought back.
"""

from __future__ import annotations

import sys

import kcli


def main(bootstrap: str, topic: str, group: str) -> None:
    with kcli.SyncClient(bootstrap) as kafka:
        day = {"retention.ms": "86400000"}
        kafka.admin.create_topics([kcli.NewTopic(topic=topic, partitions=3, configs=day)]).check()
        hour = kcli.Operation(name="retention.ms", value="3600000")
        kafka.admin.alter_configs({kcli.Resource("topic", topic): [hour]}).check()
        lag = kafka.lag(group)
        print(f"{group}: {'at least ' if lag.at_least else ''}{lag.lag}, {lag.status}")
        for at, one in sorted(lag.partitions.items()):
            print(f"{at.topic}[{at.partition}]: read to {one.committed} of {one.end}")
        read = {at: one.committed for at, one in lag.partitions.items() if one.committed is not None}
        for at, start in kafka.admin.delete_records(read).check().items():
            print(f"{at.topic}[{at.partition}]: begins at {start}")


if __name__ == "__main__":
    main(*sys.argv[1:])
