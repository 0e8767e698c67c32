"""The tables of odd requests (`odd/*.txt`): one line per request, played in order, a table on one connection.

    cluster three                                   the cluster, if it is not `one`: see CLUSTERS in test_differences.py
    topic orders~ 2 cleanup.policy=compact          a topic, its partitions and its configs
    word | Api vN | {"json": "as kcli raw takes it"} -> name=path.in.the.answer, settle
    word @2 | Api vN | {"json": …}                  to broker 2

`~` becomes a word that is new in every run. A string in angle brackets becomes a value: `<id orders~>` the topic's id,
`<records 3 producer=5>` batches (odd_batches.py), `<subscription orders~ 0 1>` what a classic member reads and owns,
`<assignment orders~ 0 1>` what it is given, `<name>` what an earlier line kept of its answer. `hex:` is a body that
no JSON can
say. `settle` repeats a request until both answers agree: for what a real Kafka does in the background.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kcli.cli.commands.raw.body import find_api
from kcli.model import TopicPartition
from kcli.proto.consumer_protocol import Subscription, encode_assignment, encode_subscription
from kcli.proto.schema import Request
from tests.kafka.sandbox.odd_batches import odd_batch

TABLES = Path(__file__).parent / "odd"
LINE = re.compile(
    r"(?P<word>\S+)(?: @(?P<node>\d))? +\| +(?P<api>\w+) v(?P<version>\d+) +\| +(?P<body>.*?)"
    r"(?: -> (?P<after>[^\"{}]+))?"
)


@dataclass(frozen=True)
class OddRequest:
    """One line. `keeps` are names, each with the path in the answer whose value it takes."""

    table: str
    word: str
    kind: type[Request[Any]]
    version: int
    body: str
    keeps: dict[str, str]
    settles: bool = False
    node: int = 1

    @property
    def name(self) -> str:
        """As the table of differences in docs/sandbox.md says it."""
        return f"{self.table}/{self.word}"


@dataclass(frozen=True)
class NewTopic:
    """A topic that the lines after it use."""

    name: str
    partitions: int
    configs: dict[str, str]


@dataclass(frozen=True)
class Table:
    """A file of requests, and the name of the cluster that answers them."""

    name: str
    cluster: str
    lines: list[OddRequest | NewTopic]


def tables() -> list[Table]:
    """All tables. Raises ValueError for a line that is none, or a word that is there twice."""
    return [_table(path) for path in sorted(TABLES.glob("*.txt"))]


def _table(path: Path) -> Table:
    cluster = "one"
    lines: list[OddRequest | NewTopic] = []
    seen: set[str] = set()
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if not text or text.startswith("#"):
            continue
        if (named := re.fullmatch(r"cluster (\w+)", text)) is not None:  # a request's word may be "cluster", too
            cluster = named[1]
            continue
        if text.startswith("topic "):
            _, name, count, *configs = text.split()
            lines.append(NewTopic(name, int(count), dict(part.split("=", 1) for part in configs)))
            continue
        line = LINE.fullmatch(text)
        if line is None or line["word"] in seen:
            raise ValueError(f"{path.name}:{number}: {text}")
        seen.add(line["word"])
        after = [part.strip() for part in (line["after"] or "").split(",") if part]
        lines.append(
            OddRequest(
                path.stem,
                line["word"],
                find_api(line["api"]),
                int(line["version"]),
                line["body"],
                dict(part.split("=", 1) for part in after if "=" in part),
                "settle" in after,
                int(line["node"] or 1),
            )
        )
    return Table(path.stem, cluster, lines)


def with_values(body: str, word: str, known: dict[str, Any]) -> Any:
    """The JSON of a body, with the values of its angle brackets. Raises KeyError for a value that no line kept."""
    return _filled(json.loads(body.replace("~", word)), known)


def _filled(thing: Any, known: dict[str, Any]) -> Any:
    if isinstance(thing, list):
        return [_filled(item, known) for item in thing]
    if isinstance(thing, dict):
        return {name: _filled(value, known) for name, value in thing.items()}
    if isinstance(thing, str) and thing.startswith("<records") and thing.endswith(">"):
        return base64.b64encode(odd_batch(thing.removeprefix("<records ")[:-1], known)).decode()
    if isinstance(thing, str) and thing.startswith(("<subscription ", "<assignment ")) and thing.endswith(">"):
        return base64.b64encode(_embedded(*thing[1:-1].split())).decode()
    if isinstance(thing, str) and thing.startswith("<") and thing.endswith(">"):
        return known[thing[1:-1]]
    return thing


def _embedded(kind: str, topic: str, *numbers: str) -> bytes:
    """A subscription to the topic by a member that owns these partitions, or an assignment of them; `data=TEXT` among
    them are bytes of the assignor."""
    given = [word for word in numbers if word.startswith("data=")]
    data = given[0].removeprefix("data=").encode() if given else None
    partitions = [TopicPartition(topic, int(word)) for word in numbers if word not in given]
    if kind == "subscription":
        return encode_subscription(Subscription(topics=[topic], owned=partitions, user_data=data))
    return encode_assignment(partitions, data)
