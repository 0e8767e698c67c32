"""`kcli reassign plan` and `execute`: where replicas go, and what is shown and asked before they do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kcli.admin.configs.resources import Resource, describe_configs
from kcli.admin.reassign import assignment_file
from kcli.admin.reassign.reassignments import about
from kcli.cli.commands.reassign import plan as reassign_plan
from kcli.cli.commands.reassign.moving import move
from kcli.cli.commands.reassign.plan import Plan
from kcli.cli.output.render import Document, human_time
from kcli.cli.runtime.answer import answer, confirm, excluding, plural, say
from kcli.cli.runtime.undo import UndoFile
from kcli.errors import KcliError, UsageError
from kcli.grammar.units import bytes_of, bytes_text
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.admin.reassign.reassignments import Assignment
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

    Rows = dict[TopicPartition, Row]


def plan(values: Values) -> int:
    """`kcli reassign plan`."""

    async def work(cluster: Cluster, document: Document) -> None:
        made, _ = await reassign_plan.look(cluster, document, values)
        await reassign_plan.from_options(cluster, made, document, values)
        document.rows["brokers"] = reassign_plan.broker_rows(made) if made.wanted or made.log_dirs else []
        rows = reassign_plan.partition_rows(made, "planned")
        document.rows["partitions"] = list(rows.values())
        _tell(values, made, rows, failed=bool(document.errors))
        await _warn(cluster, values, made)
        if values["save"]:
            _save(values["save"], made.changes())
            say(values, f"saved: kcli reassign execute {values['save']} --execute, or kafka-reassign-partitions")

    return answer(values, "reassign.plan", work)


def _tell(values: Values, made: Plan, rows: Rows, *, failed: bool) -> None:
    """The plan in a sentence."""
    if not made.wanted and failed:
        return  # which topics or partitions are not there is said
    if not rows:
        say(values, f"nothing to do: {plural(len(made.wanted), 'partition')} are where they should be")
        return
    copied, size = sum(len(row["adding"]) for row in rows.values()), sum(row["bytes"] for row in rows.values())
    say(
        values,
        f"{len(rows)} of {plural(len(made.wanted), 'partition')} change; {plural(copied, 'replica')} "
        f"({bytes_text(size) if size < 1024 else f'{size / 2**20:.1f}MiB'}) to be copied",
    )


async def _warn(cluster: Cluster, values: Values, made: Plan) -> None:
    """Fewer replicas than a write with acks=all has to have."""
    least: dict[str, int] = {}
    for at, brokers in made.changes().items():
        if len(brokers) < len(made.everything[at]):
            least[at.topic] = min(len(brokers), least.get(at.topic, len(brokers)))
    if not least:
        return
    name = "min.insync.replicas"
    for resource, configs in (
        await describe_configs(cluster, [Resource("topic", t) for t in least], names=[name])
    ).items():
        if isinstance(configs, list) and configs and int(configs[0].value or 0) > least[resource.name]:
            say(
                values,
                f"WARNING: {resource.name} will have {plural(least[resource.name], 'replica')} and {name}="
                f"{configs[0].value}: nobody will be able to write to it with acks=all",
            )


def _save(path: str, assignment: Assignment) -> None:
    try:
        with open(path, "w", encoding="utf-8") as out:
            out.write(json.dumps(assignment_file.document(assignment)) + "\n")
    except OSError as error:
        raise UsageError(f"--save {path}: {error.strerror}") from None


def execute(values: Values) -> int:
    """`kcli reassign execute`."""
    path, undo = reassign_plan.file_of(values), UndoFile(values)
    rate = None if values["throttle"] is None else rate_of(values["throttle"])
    _check(values)
    excluding(values)
    undo.check()

    async def work(cluster: Cluster, document: Document) -> int | None:
        made, _ = await reassign_plan.look(cluster, document, values)
        if made.ongoing and not values["additional"] and not values["dry_run"]:
            raise KcliError(
                f"{plural(len(made.ongoing), 'partition')} on the way already, such as "
                f"{about(next(iter(made.ongoing)))}; wait (kcli reassign verify --wait), or add --additional"
            )
        if path is None:
            await reassign_plan.from_options(cluster, made, document, values)
        else:
            reassign_plan.from_file(made, document, path)
        document.rows["brokers"] = reassign_plan.broker_rows(made) if made.wanted or made.log_dirs else []
        rows = reassign_plan.partition_rows(made, "would move")
        document.rows["partitions"] = list(rows.values())
        _tell(values, made, rows, failed=bool(document.errors))
        if rate is not None and rows:
            longest = max(row["receives"] for row in document.rows["brokers"]) / rate
            say(values, f"at {bytes_text(rate)}/s at each broker that takes {human_time(longest)} or more")
        await _warn(cluster, values, made)
        if document.errors or values["dry_run"] or not (rows or made.log_dirs):
            return None
        topics = sorted({at.topic for at in rows or made.wanted})
        if not confirm(values, document, topics[0] if len(topics) == 1 else f"move {plural(len(rows), 'partition')}"):
            document.rows.clear()
            return 1
        old = {at: made.everything[at] for at in made.changes()}
        if old:
            await undo.keep(cluster, "reassign", assignment_file.document(old), "kcli reassign execute {}")
        return await move(cluster, document, values, made, rows, rate)

    return answer(values, "reassign.execute", work)


def _check(values: Values) -> None:
    """Raises UsageError for options that mean nothing without waiting."""
    waiting = values["wait"] or values["batch"] is not None
    for option, flag in (("timeout", "--timeout"), ("on_interrupt", "--on-interrupt")):
        if values[option] is not None and not waiting:
            raise UsageError(f"{flag} goes with --wait")


def rate_of(text: str) -> int:
    """`50MiB` in bytes a second. Raises UsageError."""
    rate = int(bytes_of(text, "--throttle"))
    if rate < 1:
        raise UsageError(f"--throttle {text}: a limit is 1 byte a second or more")
    return rate
