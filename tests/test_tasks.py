"""tests/tasks.md: each line does its task. A section runs in order, on a sandbox of its own with the same seeds."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kcli.sandbox.thread import SandboxThread
from kcli.text.width import cells
from tests.lines import Lines

PAGE = (Path(__file__).parent / "tasks.md").read_text()
TASK = re.compile(
    r"^(?P<number>\d+)\. (?P<task>.+)\n   `(?P<line>.+?)` → (?:(?P<code>\d+): )?(?:`(?P<fragment>.+?)`|nothing)"
    r"(?: — waits for (?P<waits>.+))?$",
    re.MULTILINE,
)
ENTRY = re.compile(r"^\d+\. ", re.MULTILINE)

AVRO = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "total", "type": %s}]}'


@dataclass(frozen=True)
class Task:
    """What somebody wants, the line that does it, and what it prints."""

    number: int
    task: str
    line: str
    code: int
    fragment: str
    waits: str | None


def sections() -> dict[str, list[Task]]:
    found = {}
    for heading, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE):
        found[heading] = [
            Task(int(number), task, line, int(code or 0), fragment, waits or None)
            for number, task, line, code, fragment, waits in TASK.findall(text)
        ]
    return found


SECTIONS = sections()


def seed(lines: Lines) -> None:
    """Files, topics, records and groups that the tasks begin with."""
    now = int(time.time() * 1000)
    files = {
        "orders.ndjson": "".join(json.dumps(order(n, now)) + "\n" for n in range(60)),
        "dead.ndjson": "".join(json.dumps(dead(n)) + "\n" for n in range(3)),
        "lines.txt": "".join(f"line {n}\n" for n in range(20)),
        "keyed.txt": "".join(f"user-{n % 3}:visit {n}\n" for n in range(9)),
        "broken.ndjson": '{"value": "good"}\nnot JSON\n',
        "values.json": '{"id": 1}\n{"id": 2}\n',
        "report.xml": "<report>\n<total>7</total>\n</report>\n",
        "offsets.csv": "orders,0,3\norders,1,4\n",
        "cluster.yaml": "topics:\n  invoices: {partitions: 4, configs: {retention.ms: 7d}}\n",
        "times.ndjson": "".join(map(at_hour, ("10:00", "12:00", "10:30", "13:00", "10:45"))),
        "project.toml": 'default_profile = "shop"\n[profiles.shop]\nbootstrap = "127.0.0.1:1"\n',
        "client.properties": f"bootstrap.servers={lines.environment['KCLI_BOOTSTRAP']}\nclient.id=from-file\n",
        "password.txt": "secret-of-bob\n",
        "order.avsc": AVRO % '"double"',
        "orders-2.avsc": AVRO % '"string"',
    }
    for name, text in files.items():
        (lines.folder / name).write_text(text)
    (lines.folder / "password.txt").chmod(0o600)
    for line in (
        "kcli topics create orders -p 3",
        "kcli topics create payments inbox spare times orders-dlq tmp-a tmp-b tmp-c",
        "kcli topics create sessions --config cleanup.policy=compact",
        "kcli produce orders --input json < orders.ndjson",
        "kcli produce payments < lines.txt",
        "kcli produce times --input json < times.ndjson",
        "kcli produce orders-dlq --input json < dead.ndjson",
        "kcli produce sessions -K : < keyed.txt",
        "kcli groups reset --create billing -t orders --to-offset 10 --execute",
        "kcli groups reset --create shipping -t orders --to-latest --execute",
        "kcli groups reset --create old-report -t payments --to-offset 5 --execute",
    ):
        done = lines.run(line)
        assert done.code == 0, (line, done)


def order(n: int, now: int) -> dict[str, object]:
    """A record a minute, the last one now; three partitions in turn."""
    value = {"id": n, "user": {"id": n % 10}, "total": n * 2.5, "ts": now - (59 - n) * 60_000}
    return {
        "key": f"user-{n % 10}", "value": json.dumps(value), "partition": n % 3, "timestamp": value["ts"],
        "headers": [["source", "shop" if n % 2 else "phone"]],
    }  # fmt: skip


def hour(time: str) -> str:
    """A time of yesterday."""
    return f"{datetime.now(UTC).date() - timedelta(days=1)}T{time}Z"


def at_hour(time: str) -> str:
    return json.dumps({"value": time, "timestamp": round(datetime.fromisoformat(hour(time)).timestamp() * 1000)}) + "\n"


def dead(n: int) -> dict[str, object]:
    return {"value": f"dead {n}", "headers": [["__connect.errors.topic", "inbox"], ["__connect.errors.partition", "0"]]}


@pytest.fixture(params=[0, 80, 120], ids=["pipe", "80", "120"])
def lines(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Lines]:
    """A pipe, or a terminal with so many columns; on the widest one Typer reads every line."""
    with SandboxThread(control=True, rebalance_delay=0, registry=True) as sandbox:
        made = Lines(tmp_path, KCLI_BOOTSTRAP=sandbox.bootstrap, REGISTRY=sandbox.registry_url)
        made.environment |= HOURS
        seed(made)
        made.width = request.param
        if made.width == 120:
            made.environment["KCLI_PARSER"] = "typer"
        with CLUSTERS.get(request.node.callspec.params["section"], nullcontext)(made):
            yield made


HOURS = {"TEN": hour("10:00"), "ELEVEN": hour("11:00"), "NOON": hour("12:00"), "TWO": hour("14:00")}


@contextmanager
def three_brokers(lines: Lines) -> Iterator[None]:
    with SandboxThread(brokers=3) as sandbox:
        lines.environment["BROKERS"] = sandbox.bootstrap
        sandbox.call(lambda one: one.topics.create("moving", assignments=[[3, 2]]))
        sandbox.call(lambda one: one.topics.create("empty", assignments=[[1]]))
        done = lines.run("kcli produce moving -b $BROKERS < lines.txt")
        assert done.code == 0, done
        sandbox.faults.cluster.stop_broker(3)
        yield


@contextmanager
def with_users(lines: Lines) -> Iterator[None]:
    with SandboxThread(topics={"guarded": 1}, sasl={"admin": "a", "ann": "a"}, super_users=["User:admin"]) as sandbox:
        for user in ("admin", "ann"):
            (lines.folder / f"{user}.properties").write_text(
                f"bootstrap.servers={sandbox.bootstrap}\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
                f"sasl.username={user}\nsasl.password=a\n"
            )
        done = lines.run("kcli acls add describe topic guarded --allow User:ann --execute -F admin.properties")
        assert done.code == 0, done
        yield


CLUSTERS = {"Brokers": three_brokers, "Rights": with_users}
"""What a section has beside the sandbox."""


def fits(task: Task, printed: str) -> bool:
    return task.fragment in printed if task.fragment else not printed


TABLES = re.compile(r"kcli (?!consume|produce|tail|cat|copy|redrive|raw|export|completion|schema|demo|sandbox|help)")
WIDE = re.compile(r"-J\b|--format|--json|--help|--trace|groups export|config path| && ")
"""Lines that print data: it is as wide as it is."""
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def too_wide(task: Task, printed: str, width: int) -> list[str]:
    """The lines of a table that do not fit the terminal."""
    if not width or not TABLES.match(task.line) or WIDE.search(task.line):
        return []
    return [line for line in ESCAPES.sub("", printed).splitlines() if cells(line) > width]


def _section(name: str) -> Any:
    """A section, with the optional program that its lines call."""
    calls_jq = any("| jq " in task.line for task in SECTIONS[name])
    return pytest.param(name, marks=pytest.mark.needs("jq")) if calls_jq else name


@pytest.mark.process
@pytest.mark.parametrize("section", [_section(name) for name in SECTIONS])
def test_each_line_does_its_task(lines: Lines, section: str) -> None:
    failed = []
    for task in SECTIONS[section]:
        if task.waits:
            continue
        done = lines.run(task.line)
        printed = ESCAPES.sub("", done.out) + done.err
        if done.code != task.code or not fits(task, printed) or too_wide(task, done.out, lines.width):
            failed.append(f"{task.number}. {task.line}\n   ended with {done.code}\n{done.out[-600:]}{done.err[-600:]}")
    assert not failed, "\n".join(failed)


def test_every_entry_is_read() -> None:
    tasks = [task for section in SECTIONS.values() for task in section]
    assert [task.number for task in tasks] == list(range(1, len(ENTRY.findall(PAGE)) + 1))
    assert len(tasks) >= 100
    assert len({task.line for task in tasks}) == len(tasks)
