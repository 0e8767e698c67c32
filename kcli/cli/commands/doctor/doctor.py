"""`kcli doctor`: the checks from the configuration to what one may do, one row per step and per advertised broker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from kcli import cli
from kcli.broker.security.access import Access
from kcli.cli.commands.doctor.checks import Checks
from kcli.cli.commands.doctor.endpoint import shown
from kcli.cli.commands.doctor.steps import (
    ADVERTISED,
    FAILED,
    LOOPBACK,
    OK,
    SKIPPED,
    WARNING,
    Check,
    Fault,
    StepRow,
    exit_code,
)
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions
from kcli.cli.runtime.answer import format_of
from kcli.cli.runtime.connection import UNNAMED, Connection
from kcli.cli.runtime.signals import run_to_end
from kcli.cli.runtime.views import view_of
from kcli.errors import KcliError, UsageError
from kcli.grammar.durations import seconds
from kcli.model import Address
from kcli.proto.messages.metadata import MetadataResponse, MetadataResponseBroker
from kcli.settings import ClientSettings

if TYPE_CHECKING:
    from typing import Annotated

    import typer

PATIENCE = 5.0  # seconds for a step
AT_ONCE = 16
LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")
SHAPE = shape("doctor", "Each step from the configuration to the permissions, in order.", StepRow)


class DoctorOptions(OutputOptions):
    topics: Annotated[
        list[str],
        typer.Option("-t", "--topic", metavar="TOPIC", help="Check the permissions on this topic. Repeatable."),
    ]
    groups: Annotated[
        list[str],
        typer.Option("-g", "--group", metavar="GROUP", help="Check the permissions on this group. Repeatable."),
    ]
    timeout: Annotated[
        str | None,
        typer.Option("--timeout", metavar="DURATION", help="Wait up to this long for each step (default: 5s)."),
    ] = None
    timeout_ms: Annotated[
        int | None,
        typer.Option("--timeout-ms", metavar="MS", min=1, help="The same in ms, as in Kafka.", hidden=True),
    ] = None


@command(
    "doctor",
    examples="""
kcli doctor -b kafka-1:9092
kcli doctor --profile prod -t orders -g billing      # with your permissions on them
kcli doctor --profile prod -J | jq '.steps[] | select(.status == "failed")'""",
)
def run(options: DoctorOptions) -> int:
    """Check the connection to the cluster step by step: the configuration, DNS, TCP, TLS, ApiVersions, SASL, metadata,
    every address that the brokers advertise, and your permissions. For a failed step, kcli prints what is wrong and how
    to fix it.

    \b
    Exit codes: 0 no problem, 1 a problem on a working connection (permissions,
    a topic, a broker that is too old), 2 the configuration, 5 a connection.
    """
    document = Document(shape=SHAPE, view=view_of(options))
    steps: list[Check] = []
    settings, access = _configuration(lambda: Connection(options), steps)
    if settings is not None:
        patience = seconds(options.timeout, "--timeout", (options.timeout_ms or 0) / 1000 or PATIENCE, least=1)
        run_to_end(examine(settings, access, steps, patience, options))
    document.of(StepRow)[:] = [step.row() for step in steps]
    for step in steps:
        if step.status == FAILED:
            document.errors.append({"about": step.address, "error": step.fault or "", "message": sentence(step)})
    write(document, format_of(options))
    for step in steps:
        if step.status in (FAILED, WARNING) and not (step.status == WARNING and options.quiet):
            complain(sentence(step))
    if settings is not None and settings.hint and exit_code(steps):
        complain(UNNAMED)
    return exit_code(steps)


def diagnose(make: Callable[[], Connection]) -> list[Check]:
    """Every step of the way that a configuration makes."""
    steps: list[Check] = []
    settings, access = _configuration(make, steps)
    if settings is not None:
        run_to_end(examine(settings, access, steps, PATIENCE, DoctorOptions()))
    return steps


def sentence(step: Check) -> str:
    who = f"broker {step.broker} at {step.address}" if step.broker is not None else step.address or step.step
    return f"{who}: {step.result}: {step.fix}" if step.fix else f"{who}: {step.result}"


def _configuration(make: Callable[[], Connection], steps: list[Check]) -> tuple[ClientSettings | None, Access | None]:
    """The first rung: what is to be used, and whether it makes sense."""
    begin = time.perf_counter()
    step = Check(step="config")
    steps.append(step)
    access = None
    try:
        connection = make()
        settings = connection.client()
        if settings.security is not None:
            from kcli.broker.security.access import Access

            access = Access(settings.security)
    except UsageError as problem:
        step.status, step.result, step.fault = FAILED, str(problem), "config"
        return None, None
    finally:
        step.milliseconds = (time.perf_counter() - begin) * 1000
    where, servers = connection.servers()
    protocol = settings.security.protocol if settings.security is not None else "PLAINTEXT"
    step.result = f"{servers} ({where}), {protocol}"
    if settings.security is not None and settings.security.sasl is not None:
        step.result += f", {settings.security.sasl.mechanism}"
    return settings, access


async def examine(
    settings: ClientSettings, access: Access | None, steps: list[Check], patience: float, options: DoctorOptions
) -> None:
    """All rungs behind the configuration; they are added to `steps` in order."""
    all_checks = [Checks(address, settings, access, patience) for address in settings.bootstrap]
    try:
        await asyncio.gather(*(checks.run() for checks in all_checks))
        for checks in all_checks:
            steps.extend(checks.steps)
        standing = next((checks for checks in all_checks if checks.failed is None), None)
        if standing is None:
            return
        await _cluster(standing, steps, options)
    finally:
        for checks in all_checks:
            checks.close()


async def _cluster(checks: Checks, steps: list[Check], options: DoctorOptions) -> None:
    """What a bootstrap broker that was reached tells of the others, and lets us do."""
    from kcli.cli.commands.doctor.rights import cluster_rights, metadata, one_group, one_topic, topic_rights

    answers: list[MetadataResponse] = []
    del checks.steps[:]

    async def ask() -> str:
        answers.append(await metadata(checks))
        brokers = len(answers[0].brokers)
        return f"cluster {answers[0].cluster_id or '–'}, {brokers} broker{'s' if brokers != 1 else ''}"

    if not await checks.take("metadata", ask):
        steps.extend(checks.steps)
        return
    steps.extend(checks.steps)
    del checks.steps[:]
    gate = asyncio.Semaphore(AT_ONCE)
    brokers = sorted(answers[0].brokers, key=lambda broker: broker.node_id)
    cluster_id = answers[0].cluster_id
    steps.extend(await asyncio.gather(*(_advertised(checks, broker, cluster_id, gate) for broker in brokers)))
    user = quote(f"User:{cli.user or 'NAME'}")
    rungs: list[Callable[[], Awaitable[str | Fault]]] = [
        partial(cluster_rights, checks),
        partial(topic_rights, checks),
        *(partial(one_topic, checks, name, user) for name in options.topics),
        *(partial(one_group, checks, name, user) for name in options.groups),
    ]
    for rung in rungs:
        await checks.take("rights", rung)
    for step in checks.steps:
        step.address = ""
    steps.extend(checks.steps)


async def _advertised(
    checks: Checks, broker: MetadataResponseBroker, cluster_id: str | None, gate: asyncio.Semaphore
) -> Check:
    """One broker under the address that it advertises, as one row."""
    from kcli.cli.commands.doctor.rights import check_identity

    address = Address(broker.host, broker.port)
    own = Checks(address, checks.settings, checks.access, checks.seconds, broker.node_id)
    begin = time.perf_counter()
    async with gate:
        try:
            await own.run()
            if own.failed is None:
                await own.take("identity", partial(check_identity, own, cluster_id))
        except KcliError as problem:
            own.steps.append(Check(status=FAILED, result=str(problem), fault="unreachable"))
        finally:
            own.close()
    step = Check(step="advertised", address=shown(address), broker=broker.node_id)
    step.milliseconds = (time.perf_counter() - begin) * 1000
    failed = own.failed
    if failed is None:
        way = f" via {shown(own.there)}" if own.there != address else ""
        unknown = own.steps[-1].result
        passed = [step_.step for step_ in own.steps if step_.status != SKIPPED]
        step.result = f"{', '.join(passed[:-1] if unknown else passed)}{way}{f'; {unknown}' if unknown else ''}"
        step.status = WARNING if any(step_.status == WARNING for step_ in own.steps) else OK
        warned = next((step_ for step_ in own.steps if step_.status == WARNING), None)
        if warned is not None:
            step.result, step.fault, step.fix = f"{warned.step}: {warned.result}", warned.fault, warned.fix
        return step
    step.status, step.fault, step.result = FAILED, failed.fault, f"{failed.step}: {failed.result}"
    step.fix = failed.fix
    if failed.step in ("DNS", "TCP"):
        local = broker.host in LOCAL and checks.address.host not in LOCAL
        sentence = LOOPBACK if local else ADVERTISED
        step.fix = sentence.format(address=shown(address), host=checks.address.host, port=checks.address.port)
    return step
