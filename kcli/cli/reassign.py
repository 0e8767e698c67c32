"""`kcli reassign plan` and `execute`: where replicas go, and their way there with a throttle that is always cleared."""

from __future__ import annotations

import json

from kcli.admin import assignment_file, throttles
from kcli.admin.config_resources import Resource, describe_configs
from kcli.admin.gather import pieces
from kcli.admin.quantities import bytes_of, bytes_text
from kcli.admin.reassignments import about, alter_reassignments, list_reassignments
from kcli.cli import reassign_plan
from kcli.cli.admin import answer, confirm, excluding, plural, say
from kcli.cli.disks_moving import follow, remember
from kcli.cli.reassign_plan import Plan
from kcli.cli.reassign_throttle import clean, settle_throttle
from kcli.cli.reassign_wait import Watch
from kcli.cli.undo import UndoFile
from kcli.errors import KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.reassignments import Assignment
    from kcli.cli.option import Values
    from kcli.cli.render import Document
    from kcli.cli.shapes import Row
    from kcli.model import Cluster, TopicPartition

    Rows = dict[TopicPartition, Row]


def plan(values: Values) -> int:
    """`kcli reassign plan`."""

    async def work(cluster: Cluster, document: Document) -> None:
        made, _ = await reassign_plan.look(cluster, document, values)
        await reassign_plan.from_options(cluster, made, document, values)
        document.rows["brokers"] = reassign_plan.broker_rows(made)
        rows = reassign_plan.partition_rows(made, "planned")
        document.rows["partitions"] = list(rows.values())
        _tell(values, made, rows)
        await _warn(cluster, values, made)
        if values["save"]:
            _save(values["save"], made.changes)
            say(values, f"saved: kcli reassign execute {values['save']} --execute, or kafka-reassign-partitions")

    return answer(values, "reassign.plan", work)


def _tell(values: Values, made: Plan, rows: Rows) -> None:
    """The plan in a sentence."""
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
    for at, brokers in made.changes.items():
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
        document.rows["brokers"] = reassign_plan.broker_rows(made)
        rows = reassign_plan.partition_rows(made, "would move")
        document.rows["partitions"] = list(rows.values())
        _tell(values, made, rows)
        await _warn(cluster, values, made)
        if document.errors or values["dry_run"] or not (rows or made.log_dirs):
            return None
        topics = sorted({at.topic for at in rows or made.wanted})
        if not confirm(values, document, topics[0] if len(topics) == 1 else f"move {plural(len(rows), 'partition')}"):
            document.rows.clear()
            return 1
        old = {at: made.everything[at] for at in made.changes}
        if old:
            await undo.keep(cluster, "reassign", assignment_file.document(old), "kcli reassign execute {}")
        return await _move(cluster, document, values, made, rows, rate)

    return answer(values, "reassign.execute", work)


def rate_of(text: str) -> int:
    """`50MiB` in bytes a second. Raises UsageError."""
    rate = int(bytes_of(text, "--throttle"))
    if rate < 1:
        raise UsageError(f"--throttle {text}: a limit is 1 byte a second or more")
    return rate


async def _move(
    cluster: Cluster, document: Document, values: Values, made: Plan, rows: Rows, rate: int | None
) -> int | None:
    """Batch after batch, each throttled before it begins; in the end nothing is left of the throttle."""
    topics = sorted({at.topic for at in made.wanted})
    try:
        return await _batches(cluster, document, values, made, rows, rate)
    except KcliError:
        if rate is not None:
            await clean(cluster, values, document, topics, quiet=True)
        raise


async def _batches(
    cluster: Cluster, document: Document, values: Values, made: Plan, rows: Rows, rate: int | None
) -> int | None:
    waiting = values["wait"] or values["batch"] is not None
    topics = sorted({at.topic for at in made.wanted})
    with Watch(cluster, values) as watch:
        await remember(cluster, made.log_dirs)
        for part in pieces(list(made.changes), values["batch"] or len(made.changes) or 1):
            wanted = {at: made.changes[at] for at in part}
            if watch.interrupted:
                break
            if rate is not None and not await _throttled(cluster, document, wanted, made, rate):
                break
            begun = await _begin(cluster, document, wanted, rows)
            if waiting and begun and not await watch.until_done(begun):
                break
        await follow(cluster, document, made.log_dirs, there=waiting and not watch.interrupted)
        if waiting:
            code = await watch.finish(document, rows, topics)
            if code is not None or document.errors:
                return code
            say(values, f"{plural(len(rows), 'partition')} moved")
            return None
        if rate is not None:
            await clean(cluster, values, document, topics, quiet=True)
    still = await list_reassignments(cluster, made.changes)
    if still:
        held = f", throttled to {bytes_text(rate)}/s," if rate is not None else ""
        say(values, f"{plural(len(still), 'partition')} on the way{held} `kcli reassign verify --wait` waits"
            f"{' and takes the throttle away' if held else ''}")  # fmt: skip
    return None


async def _throttled(cluster: Cluster, document: Document, wanted: Assignment, made: Plan, rate: int) -> bool:
    """Whether the throttle holds everywhere; if not, nothing of it is left."""
    ongoing = await list_reassignments(cluster)
    moves = throttles.moves(wanted, made.everything, ongoing)
    return await settle_throttle(cluster, document, throttles.wanted(moves, rate))


async def _begin(cluster: Cluster, document: Document, wanted: Assignment, rows: Rows) -> Assignment:
    """What began to move; what did not is an error."""
    begun = {}
    for at, problem in (await alter_reassignments(cluster, wanted)).items():
        if problem is None:
            begun[at] = wanted[at]
            rows[at]["result"] = "moving"
        else:
            rows[at]["result"], rows[at]["error"] = "failed", str(problem)
            document.fail(problem, about(at))
    return begun
