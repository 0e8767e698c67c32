"""Lag against what is known: Kafka's own tool, and a workload whose rates were scripted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.kafka.cluster import Kafka
from tests.kafka.storm import wait_for
from tests.kafka.workload import Count, Reading, Writing
from tests.programs import KCLI, Background, kcli

Row = dict[str, Any]
WINDOW = 5.0  # seconds that kcli takes its rates over here


@pytest.fixture
def topic(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    name = topic_name()
    assert kcli("topics", "create", name, "-p", "4", "-b", kafka.bootstrap, "--wait").code == 0
    return name


# -- Kafka's tool ------------------------------------------------------------------------------------------------------

Figures = tuple[str, str, str, str, str]  # committed, end, lag, member id, client id


def kafkas(kafka: Kafka, groups: list[str]) -> dict[tuple[str, int], Figures]:
    """(group, partition) to what kafka-consumer-groups prints."""
    text = kafka.tool(
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", "--bootstrap-server", kafka.bootstrap,
        "--describe", *(word for group in groups for word in ("--group", group)),
    )  # fmt: skip
    rows = [words for words in map(str.split, text.splitlines()) if len(words) >= 9 and words[0] in groups]
    assert rows, text
    return {(row[0], int(row[2])): (row[3], row[4], row[5], row[6], row[8]) for row in rows}


def kclis(kafka: Kafka, groups: list[str]) -> dict[tuple[str, int], Figures]:
    shown = kcli("lag", *groups, "-p", "-b", kafka.bootstrap, "--format", "ndjson")
    assert shown.code == 0, shown.err
    rows = [json.loads(line) for line in shown.out.splitlines()]
    names = ("committed", "end", "lag", "member_id", "client_id")
    return {(row["group"], row["partition"]): tuple(_text(row[name]) for name in names) for row in rows}  # type: ignore[misc]


def _text(figure: object) -> str:
    return "-" if figure is None else str(figure)


def test_E68_E69_lag_is_what_kafka_consumer_groups_says_of_classic_and_consumer_groups(
    kafka: Kafka, topic: str
) -> None:
    for partition, count in enumerate((100, 50, 70)):
        lines = b"".join(b"%d\n" % n for n in range(count))
        assert kcli("produce", topic, "-p", str(partition), "-b", kafka.bootstrap, stdin=lines).code == 0
    groups = [f"{protocol}-{topic}" for protocol in ("classic", "consumer")]
    members = [
        Consumer({
            "bootstrap.servers": kafka.bootstrap, "group.id": group, "group.protocol": group.partition("-")[0],
            "enable.auto.commit": False, "client.id": f"c-{group}",
        })
        for group in groups
    ]  # fmt: skip
    for member in members:
        member.subscribe([topic])
        wait_for(lambda member=member: (member.consume(1, 0.1), len(member.assignment()) == 4)[1], 20.0, str)
        # something, everything, nothing of what is there; and nothing of nothing
        member.commit(offsets=[TopicPartition(topic, 0, 40), TopicPartition(topic, 1, 50)], asynchronous=False)
    mine = kclis(kafka, groups)
    assert mine == kafkas(kafka, groups)
    for group in groups:
        assert [mine[group, n][:3] for n in range(4)] == [
            ("40", "100", "60"), ("50", "50", "0"), ("-", "70", "-"), ("-", "0", "-"),
        ]  # fmt: skip
    for member in members:
        member.close()
    assert kcli("produce", topic, "-p", "1", "-b", kafka.bootstrap, stdin=b"one more\n").code == 0
    mine, theirs = kclis(kafka, groups), kafkas(kafka, groups)
    assert {key for key, row in mine.items() if row[0] != "-"} == theirs.keys()
    assert {key: row for key, row in mine.items() if key in theirs} == theirs
    assert all(theirs[group, 1] == ("50", "51", "1", "-", "-") for group in groups)


# -- a scripted workload -----------------------------------------------------------------------------------------------


def rows_of(text: bytes) -> list[Row]:
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        row["at"] = datetime.fromisoformat(row["time"]).timestamp()
    return rows


def near(found: list[float], wanted: list[float], share: float) -> str | None:
    """Whether all are as near as that; else the worst."""
    errors = [abs(a - b) / b for a, b in zip(found, wanted, strict=True)]
    assert len(errors) >= 5, f"only {len(errors)} looks to judge by"
    worst = max(range(len(errors)), key=errors.__getitem__)
    return None if errors[worst] <= share else f"{found[worst]:.2f} instead of {wanted[worst]:.2f}"


def arrival(written: Count, read: Count, turned: float, pace: float) -> float:
    """When the last of the lag was worked off. The last tenths of a second are reckoned at the scripted `pace`: a
    reader that is through waits for records."""
    moment = next(t for t in read.times if t > turned and written.at(t) - read.at(t) <= 0.2 * pace + 100)
    return moment + (written.at(moment) - read.at(moment)) / pace


def test_rates_eta_and_time_lag_are_those_of_a_scripted_workload(
    kafka: Kafka, topic_name: Callable[[], str], tmp_path: Path
) -> None:
    """2,000 a second go in; 1,200 a second are read, then 3,000. One partition is through before the other."""
    topic = topic_name()
    assert kcli("topics", "create", topic, "-p", "2", "-b", kafka.bootstrap, "--wait").code == 0
    group = f"g-{topic}"
    slow, fast = {0: 700, 1: 500}, {0: 1900, 1: 1100}
    seen, recorded = tmp_path / "watch", tmp_path / "record"
    watch = [*KCLI, "lag", group, "-p", "--watch", "--window", f"{WINDOW:g}s", "--format", "ndjson", "-q"]
    record = [*KCLI, "lag", "record", group]
    often = ["--interval", "400ms", "-b", kafka.bootstrap]
    with ExitStack() as running:
        readers = [running.enter_context(Reading(kafka, topic, group, 0)) for _ in range(2)]
        wait_for(lambda: {one.partition for one in readers} == {0, 1}, 20.0, str)
        readers.sort(key=lambda one: one.partition)
        writers = [running.enter_context(Writing(kafka, topic, n, rate)) for n, rate in enumerate((1200, 800))]
        for one in readers:
            one.rate = slow[one.partition]
        begun = time.time()
        wait_for(lambda: all(one.count.values[-1] for one in readers), 10.0, str)
        for words, path in ((watch, seen), (record, recorded)):
            running.enter_context(Background([*words, *often], stdout=path))
        time.sleep(max(0.0, begun + 13.0 - time.time()))
        for one in readers:
            one.rate = fast[one.partition]
        turned = time.time()
        pairs = list(zip(writers, readers, strict=True))
        wait_for(lambda: all(w.count.values[-1] - r.count.values[-1] <= 0.1 * w.rate for w, r in pairs), 30.0, str)
        time.sleep(0.5)
    ins, outs = [one.count for one in writers], [one.count for one in readers]
    done = max(arrival(ins[n], outs[n], turned, fast[n] - rate) for n, rate in enumerate((1200, 800)))
    rows = rows_of(seen.read_bytes())
    replayed = kcli("lag", group, "--replay", str(recorded), "--by", "group", "--window", f"{WINDOW:g}s",
                    "--format", "ndjson", "--watch", "-q")  # fmt: skip
    assert replayed.code == 0, replayed.err
    sums = rows_of(replayed.out)
    steady = ((begun + WINDOW + 2, turned), (turned + WINDOW + 1, done - 3))
    report = []
    for since, until in steady:
        for n in range(2):
            some = [row for row in rows if row["partition"] == n and since <= row["at"] <= until]
            for name, counts in (("in_rate", ins), ("out_rate", outs)):
                if n == 0 and since > turned:
                    continue  # it is through before
                wanted = [counts[n].rate(row["at"] - WINDOW, row["at"]) for row in some]
                report.append((f"{name} of {n}", near([row[name] for row in some], wanted, 0.05)))
            wanted = [row["at"] - ins[n].reached(row["committed"]) for row in some]
            report.append((f"time_lag of {n}", near([r["time_lag"] + 1 for r in some], [w + 1 for w in wanted], 0.1)))
        some = [row for row in sums if since <= row["at"] <= until]
        wanted = [sum(count.rate(row["at"] - WINDOW, row["at"]) for count in ins) for row in some]
        report.append(("in_rate", near([row["in_rate"] for row in some], wanted, 0.05)))
        if since < turned:
            assert all(row["eta"] is None and row["falling"] > 0 for row in some)
            report.append(("falling", near([row["falling"] for row in some], [800.0] * len(some), 0.15)))
            report.append(
                ("in_rate, as scripted", near([median(row["in_rate"] for row in some)] * 5, [2000.0] * 5, 0.05))
            )
        else:
            report.append(("eta", near([row["eta"] for row in some], [done - row["at"] for row in some], 0.2)))
    assert not [one for one in report if one[1] is not None], report
