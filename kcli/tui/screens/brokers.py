"""The brokers: what each leads and stores, whether it answers, and how quickly."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import ComposeResult

from kcli.admin.cluster import describe_cluster
from kcli.admin.log_dirs import log_dirs
from kcli.admin.topics import Topic, describe_topics
from kcli.errors import KcliError
from kcli.tui.figures import count, size
from kcli.tui.screens.page import Page
from kcli.tui.text import printable
from kcli.tui.widgets.columns import Cell, Column
from kcli.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.model import Node

ANSWERS_WITHIN = 5.0  # seconds


class BrokerRow(NamedTuple):
    """A broker. `took` is how long it took to answer, in seconds; None with the `problem` why it did not. `size` is the
    bytes of its replicas, `usable` of `total` what is left on its volumes, None where it does not say."""

    node: Node
    controller: bool
    leads: int
    replicas: int
    behind: int
    size: int | None
    usable: int | None
    total: int | None
    took: float | None
    problem: str


class Brokers(Page):
    """All brokers of the cluster."""

    def __init__(self) -> None:
        super().__init__()
        self._known = 0

    @property
    def heading(self) -> str:
        return f"Brokers ({self._known})"

    @property
    def same_as(self) -> str:
        return "kcli doctor"

    def body(self) -> ComposeResult:
        yield Rows(_columns(), key=lambda r: r.node.id, order=lambda r: r.node.id, id="brokers",
                   empty="No broker known.")  # fmt: skip

    async def fetch(self, client: Client) -> Any:
        described, topics, (places, _) = await asyncio.gather(
            describe_cluster(client.cluster), describe_topics(client.cluster, None), log_dirs(client.cluster)
        )
        pings = await asyncio.gather(*(_ping(client, node) for node in described.brokers))
        partitions = [p for one in topics.values() if isinstance(one, Topic) for p in one.partitions]
        rows = []
        for node, (took, problem) in zip(described.brokers, pings, strict=True):
            here = [place for place in places if place.broker == node.id]
            volumes = [place for place in here if place.total >= 0]
            rows.append(
                BrokerRow(
                    node=node,
                    controller=node.id == described.controller,
                    leads=sum(p.leader == node.id for p in partitions),
                    replicas=sum(node.id in p.replicas for p in partitions),
                    behind=sum(node.id in p.replicas and node.id not in p.isr for p in partitions),
                    size=sum(place.size for place in here) if here else None,
                    usable=sum(place.usable for place in volumes) if volumes else None,
                    total=sum(place.total for place in volumes) if volumes else None,
                    took=took,
                    problem=problem,
                )
            )
        return rows

    def fetched(self, answer: list[BrokerRow]) -> None:
        self._known = len(answer)
        self.query_one(Rows).put(answer)
        self.retitle()


async def _ping(client: Client, node: Node) -> tuple[float | None, str]:
    """How long the broker takes for an answer on an open connection, or why there is none."""
    from kcli.proto.messages.api_versions import ApiVersionsRequest

    try:
        async with asyncio.timeout(ANSWERS_WITHIN):
            broker = await client.cluster.node(node.id)
            await broker.versions()
            begun = time.perf_counter()
            await broker.ask(ApiVersionsRequest())
            return time.perf_counter() - begun, ""
    except TimeoutError:
        return None, f"no answer within {ANSWERS_WITHIN:.0f} s"
    except KcliError as problem:
        return None, printable(str(problem))


def _columns() -> list[Column]:
    return [
        Column("id", "ID", lambda r: Cell(str(r.node.id)), lambda r: r.node.id, True, "N", 0),
        Column("address", "ADDRESS", lambda r: Cell(printable(f"{r.node.host}:{r.node.port}")), lambda r: r.node.host,
               letter="A", rank=0, wide=True),
        Column("up", "ANSWERS", _answers, lambda r: r.took, True, "T", 0),
        Column("controller", "", lambda r: Cell("controller" if r.controller else ""), lambda r: not r.controller,
               rank=2),
        Column("rack", "RACK", lambda r: Cell(printable(r.node.rack)), lambda r: r.node.rack, letter="R", rank=3),
        Column("leads", "LEADS", lambda r: Cell(count(r.leads)), lambda r: r.leads, True, "L", 1),
        Column("replicas", "REPLICAS", lambda r: Cell(count(r.replicas)), lambda r: r.replicas, True, "P", 2),
        Column("behind", "BEHIND", lambda r: Cell(count(r.behind), "bad" if r.behind else ""), lambda r: r.behind, True,
               "B", 1),
        Column("size", "SIZE", lambda r: Cell(size(r.size)), lambda r: r.size, True, "S", 1),
        Column("free", "FREE", _free, lambda r: r.usable, True, "F", 2),
    ]  # fmt: skip


def _answers(row: BrokerRow) -> Cell:
    if row.took is None:
        return Cell(f"✖ {row.problem}", "bad")
    return Cell(f"● {row.took * 1000:.1f} ms", "good")


def _free(row: BrokerRow) -> Cell:
    if row.usable is None or not row.total:
        return Cell(size(None), "dim")
    share = row.usable / row.total
    return Cell(f"{size(row.usable)} ({share:.0%})", "bad" if share < 0.1 else "")
