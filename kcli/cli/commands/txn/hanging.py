"""`kcli txn find-hanging`: transactions that hold up readers and that nobody will end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.topics.topics import Topic, describe_topics
from kcli.admin.transactions.hanging_transactions import OpenTransaction, find_open
from kcli.cli.commands.cluster.command import broker_ids
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.txn.command import milliseconds, moment
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, plural, say
from kcli.errors import KcliError
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

FOUND = 3
OLD = 15 * 60_000
"""ms: transaction.max.timeout.ms as brokers have it by default, so that every coordinator had its chance."""


def find_hanging(values: Values) -> int:
    """`kcli txn find-hanging [TOPIC[:0,1]...]`. Exit code 3 when one hangs."""
    words = list(dict.fromkeys(values["words"]))
    scope = Scope(words) if words else None
    brokers = broker_ids(values["brokers"])
    older = milliseconds(values["older_than"], "--older-than")

    async def work(cluster: Cluster, document: Document) -> int | None:
        parts = await _scanned(cluster, scope, brokers)
        search = await find_open(cluster, parts, older_than=(OLD if older is None else older) / 1000)
        hanging = [one for one in search.found if one.hangs]
        document.rows["transactions"] = [{**where(one), **who(one), "why": one.hangs} for one in hanging]
        for at, problem in search.failed.items():
            document.fail(problem, f"{at.topic} [{at.partition}]")
        for node, problem in search.untold.items():
            document.fail(problem, f"broker {node}")
        if search.untold and search.found:
            document.fail(KcliError("not every coordinator could be asked, so nothing is said to hang"), "coordinators")
        _advise(values, search.found, hanging, len(parts))
        return FOUND if hanging and not document.errors else None

    return answer(values, "txn.find-hanging", work)


def _advise(values: Values, opened: list[OpenTransaction], hanging: list[OpenTransaction], looked_at: int) -> None:
    say(
        values,
        f"{plural(looked_at, 'partition')}, {plural(len(opened), 'old open transaction')}, "
        f"{len(hanging)} of them hanging",
    )
    if hanging:
        one = hanging[0]
        say(
            values,
            f"to end one: kcli txn abort {one.at.topic}:{one.at.partition} "
            f"--start-offset {one.producer.open_since} --execute",
        )
    for one in opened:
        if not one.hangs and one.name is not None:
            say(
                values,
                f"{one.at.topic} [{one.at.partition}] is held up by {one.name}, which its coordinator knows; "
                f"to end it: kcli txn fence {one.name} --execute",
            )
            break


async def _scanned(cluster: Cluster, scope: Scope | None, brokers: set[int]) -> list[TopicPartition]:
    """The partitions to look at: those named, or all; of these, those that the `brokers` lead."""
    if scope is not None:
        parts = await scope.partitions(cluster, ())
    else:
        topics = await describe_topics(cluster, None)
        parts = [
            TopicPartition(topic, one.partition)
            for topic, found in topics.items()
            if isinstance(found, Topic)
            for one in found.partitions
        ]
    if not brokers:
        return parts
    known = await describe_topics(cluster, {at.topic for at in parts})
    led = {(one.topic, one.partition) for found in known.values() if isinstance(found, Topic)
           for one in found.partitions if one.leader in brokers}  # fmt: skip
    return [at for at in parts if at in led]


def where(one: OpenTransaction) -> Row:
    return {"topic": one.at.topic, "partition": one.at.partition}


def who(one: OpenTransaction) -> Row:
    return {
        "producer_id": one.producer.producer_id,
        "epoch": one.producer.epoch,
        "coordinator_epoch": one.producer.coordinator_epoch,
        "open_since": one.producer.open_since,
        "last_write": moment(one.producer.last_timestamp),
        "idle": round(one.age, 3),
        "transactional_id": one.name,
    }
