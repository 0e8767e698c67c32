"""A mixed KIP-848 group on the sandbox: kcli members beside librdkafka's."""

from __future__ import annotations

import json
from pathlib import Path

from tests.kafka.strangers import Confluent, until
from tests.programs import KCLI, Background, kcli


def member(bootstrap: str, topic: str, path: Path, *more: str) -> Background:
    words = [
        *KCLI, "consume", topic, "-b", bootstrap, "-g", f"g-{topic}", "--from-beginning", "-f", "%p %s\\n",
        "-X", "group.protocol=consumer", *more,
    ]  # fmt: skip
    return Background(words, stdout=path)


def produce(bootstrap: str, topic: str, first: int, count: int) -> None:
    lines = b"".join(b"k%d\t%d\n" % (n, n) for n in range(first, first + count))
    sent = kcli("produce", topic, "-b", bootstrap, "-K", "\t", stdin=lines)
    assert sent.code == 0, sent.err


def owned(bootstrap: str, topic: str) -> list[int]:
    shown = kcli("groups", "members", f"g-{topic}", "-b", bootstrap, "--format", "ndjson")
    rows = map(json.loads, shown.out.splitlines() if shown.code == 0 else [])
    return sorted(row["partitions"] for row in rows if "member_id" in row)


def values(one: Background) -> list[int]:
    return [int(row.split()[1]) for row in one.out.splitlines() if row.count(b" ") == 1]


def test_E58_E60_ours_and_librdkafkas_members_share_and_take_over(bootstrap: str, topic: str, tmp_path: Path) -> None:
    assert kcli("topics", "create", topic, "-p", "6", "-b", bootstrap).code == 0
    stranger = Confluent(bootstrap, f"g-{topic}", topic, "consumer")
    with member(bootstrap, topic, tmp_path / "one") as one:
        until(lambda: owned(bootstrap, topic) == [6])
        produce(bootstrap, topic, 0, 1000)
        with member(bootstrap, topic, tmp_path / "two", "-X", "group.instance.id=second") as two, stranger:
            produce(bootstrap, topic, 1000, 1000)
            until(lambda: owned(bootstrap, topic) == [2, 2, 2])
            produce(bootstrap, topic, 2000, 1000)

            def seen() -> set[int]:
                return {*values(one), *values(two), *map(int, stranger.values)}

            until(lambda: seen() == set(range(3000)))
            until(lambda: stranger.partitions)
            described = kcli("groups", "describe", f"g-{topic}", "-b", bootstrap, "--format", "json")
            assert b'"consumer"' in described.out, described.err
            assert one.stop() == 0, one.err
            until(lambda: owned(bootstrap, topic) == [3, 3])
            produce(bootstrap, topic, 3000, 1000)
            until(lambda: seen() == set(range(4000)))
            assert two.stop() == 0, two.err
    ours = [*values(one), *values(two)]
    assert len(ours) == len(set(ours))


def test_E59_an_assignor_that_the_coordinator_does_not_have(bootstrap: str, topic: str) -> None:
    assert kcli("topics", "create", topic, "-b", bootstrap).code == 0
    said = ("-X", "group.protocol=consumer", "-X", "group.remote.assignor=nonsense")
    ended = kcli("consume", topic, "-b", bootstrap, "-g", f"g-{topic}", *said)
    assert ended.code != 0
    assert "nonsense is not supported" in ended.err


def test_E61_a_setting_that_is_the_coordinators_is_refused(bootstrap: str, topic: str) -> None:
    said = ("-X", "group.protocol=consumer", "-X", "session.timeout.ms=6000")
    ended = kcli("consume", topic, "-b", bootstrap, "-g", f"g-{topic}", *said)
    assert ended.code == 2
    assert "session.timeout.ms cannot be used with group.protocol=consumer" in ended.err
