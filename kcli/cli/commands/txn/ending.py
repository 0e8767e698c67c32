"""`kcli txn abort` and `fence`: how transactions that hold up readers are ended by somebody else.

Three ways to end one, and each is right for one case only: the producer itself; `fence` for an id that a coordinator
knows, which aborts the whole transaction; `abort` for a hanging one, which nobody else can end, partition by partition.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kcli.admin.transactions.hanging_transactions import OpenTransaction, abort, find_one
from kcli.admin.transactions.producers import ProducerState, describe_producers
from kcli.admin.transactions.transactions import Described, describe_transactions
from kcli.admin.transactions.transactions import fence as fence_one
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.txn.command import age
from kcli.cli.commands.txn.hanging import where, who
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, confirm, excluding, plural, say, words_of
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values


def abort_command(values: Values) -> int:
    """`kcli txn abort TOPIC:PARTITION --start-offset N`, or `--fence TXN...`."""
    excluding(values)
    if values["fence"]:
        if values["start_offset"] is not None or values["producer_id"] is not None:
            raise UsageError("--fence takes transactional ids; --start-offset and --producer-id are for hanging ones")
        return fence(values)
    at = _partition(values)
    told = _told(values)

    async def work(cluster: Cluster, document: Document) -> int | None:
        one = await _one(cluster, at, values["start_offset"], told)
        row: Row = {**where(one), **who(one), "result": "would abort", "error": None}
        del row["last_write"]
        row["idle"] = row["idle"] if told is None else None
        document.rows["transactions"] = [row]
        if told is None and not one.hangs and not values["force"]:
            row["result"], row["error"] = "failed", f"{one.name} is not hanging"
            document.fail(KcliError(_living(one)), f"{at.topic} [{at.partition}]")
            return None
        if values["dry_run"]:
            return None
        if not confirm(values, document, at.topic):
            document.rows.clear()
            return 1
        problem = await abort(cluster, at, one.producer) or await _still_open(cluster, at, one.producer)
        row["result"], row["error"] = ("aborted", None) if problem is None else ("failed", str(problem))
        if problem is not None:
            document.fail(problem, f"{at.topic} [{at.partition}]")
        else:
            say(values, "1 transaction aborted")
        return None

    return answer(values, "txn.abort", work)


def _living(one: OpenTransaction) -> str:
    state = f" ({one.known.state})" if one.known is not None else ""
    return (
        f"its coordinator knows this transaction{state} and will end it; what is written here would be half of it. "
        f"To abort all of it: kcli txn fence {one.name}"
    )


def _partition(values: Values) -> TopicPartition:
    """The one partition meant: TOPIC:N, or --topic and --partition as Kafka's tool has them. Raises UsageError."""
    words = [*values["words"], *([values["topic"]] if values["topic"] else [])]
    if len(words) != 1:
        raise UsageError("in which partition? kcli txn abort TOPIC:PARTITION --start-offset N")
    topic, numbers = next(iter(Scope(words).topics.items()))
    given = values["partition"]
    if (numbers is None) == (given is None) or (numbers is not None and len(numbers) != 1):
        raise UsageError(f"{words[0]}: name one partition: kcli txn abort {topic}:0 --start-offset N")
    return TopicPartition(topic, given if numbers is None else next(iter(numbers)))


def _told(values: Values) -> ProducerState | None:
    """The producer as somebody who knows names it, for brokers before 2.8 that do not tell. Raises UsageError."""
    names = ("producer_id", "producer_epoch", "coordinator_epoch")
    given = [values[name] for name in names]
    if all(value is None for value in given):
        if values["start_offset"] is None:
            raise UsageError("which one? --start-offset N, as `kcli txn find-hanging` prints it (OPEN SINCE)")
        return None
    if any(value is None for value in given):
        raise UsageError("--producer-id, --producer-epoch and --coordinator-epoch go together")
    if values["start_offset"] is not None:
        raise UsageError("--start-offset finds the producer by itself; take it or --producer-id")
    return ProducerState(producer_id=given[0], epoch=given[1], coordinator_epoch=given[2])


async def _one(cluster: Cluster, at: TopicPartition, start: int | None, told: ProducerState | None) -> OpenTransaction:
    if told is not None:
        return OpenTransaction(at=at, producer=told)
    found = await find_one(cluster, at)
    for one in found:
        if one.producer.open_since == start:
            return one
    others = ", ".join(str(one.producer.open_since) for one in found)
    about = f"{at.topic} [{at.partition}]"
    there = f"those open begin at {others}" if others else "none is open"
    raise KcliError(f"{about}: no open transaction begins at {start}; {there}")


async def _still_open(cluster: Cluster, at: TopicPartition, producer: ProducerState) -> KcliError | None:
    """The truth after: whether the partition still has it. None also where that cannot be told: a marker was taken."""
    states = (await describe_producers(cluster, [at]))[at]
    if isinstance(states, KcliError):
        return None
    same = [one for one in states if one.producer_id == producer.producer_id and one.open_since is not None]
    return KcliError("the marker was taken, and the transaction is still open") if same else None


# -- fence ------------------------------------------------------------------------------------------------------------


def fence(values: Values) -> int:
    """`kcli txn fence TXN...`, and `kcli txn abort --fence TXN...`."""
    excluding(values)
    names = words_of(values, "transactional id")

    async def work(cluster: Cluster, document: Document) -> int | None:
        found = await describe_transactions(cluster, names)
        rows = {name: _fenced(name, one) for name, one in found.items()}
        document.rows["transactions"] = list(rows.values())
        for name, one in found.items():
            if isinstance(one, KcliError):
                document.fail(one, name)
        ready = [name for name, one in found.items() if isinstance(one, Described)]
        if values["dry_run"] or not ready:
            return None
        if not confirm(values, document, ready[0] if len(ready) == 1 else f"fence {len(ready)} transactional ids"):
            document.rows.clear()
            return 1
        done = await asyncio.gather(*(_fence(cluster, name) for name in ready))
        for name, outcome in zip(ready, done, strict=True):
            if isinstance(outcome, KcliError):
                rows[name]["result"], rows[name]["error"] = "failed", str(outcome)
                document.fail(outcome, name)
            else:
                rows[name]["result"] = "fenced"
                rows[name]["producer_id"], rows[name]["new"] = outcome
        say(values, f"{plural(sum(row['result'] == 'fenced' for row in rows.values()), 'transactional id')} fenced")
        return None

    return answer(values, "txn.fence", work)


async def _fence(cluster: Cluster, name: str) -> tuple[int, int] | KcliError:
    try:
        return await fence_one(cluster, name)
    except KcliError as problem:
        return problem


def _fenced(name: str, one: Described | KcliError) -> Row:
    if isinstance(one, KcliError):
        return {"transactional_id": name, "state": "", "age": None, "producer_id": None, "old": None, "new": None,
                "result": "failed", "error": str(one)}  # fmt: skip
    return {
        "transactional_id": name,
        "state": one.state,
        "age": age(one),
        "producer_id": one.producer_id,
        "old": one.epoch,
        "new": None,
        "result": "would fence",
        "error": None,
    }
