"""Load a file, a record per line, and report the lines that could not be stored.

kcli sandbox --port 9092 --topic lines &
python examples/load_file.py localhost:9092 lines /usr/share/dict/words
"""

from __future__ import annotations

import sys
from itertools import islice

import kcli

AT_A_TIME = 100_000


def main(bootstrap: str, topic: str, path: str) -> int:
    """Return how many lines are not stored, or may not be."""
    stored = missing = 0
    with kcli.SyncClient(bootstrap) as kafka, kafka.producer() as producer, open(path, "rb") as file:
        while lines := [line.rstrip(b"\n") for line in islice(file, AT_A_TIME)]:
            reports = producer.send_all(topic, [(None, None, None, line, ()) for line in lines])
            for line, report in zip(lines, reports, strict=True):
                if isinstance(report, BaseException):
                    missing += 1
                    print(f"{line!r}: {report}", file=sys.stderr)
                else:
                    stored += 1
    print(f"{stored} stored, {missing} not")
    return missing


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) > 0)
