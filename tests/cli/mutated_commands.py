"""Every command against a broker whose answers are wrong: a run of a seed, and what must not come of it. The loop of
`make chaos` is `python -m tests.cli.mutated_commands [LINE...]`: MUTATED_SEEDS of each command, from seed MUTATION_SEED
on, in MUTATION_WORKERS processes. A command of several lines plays half of them with each."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import functools
import gc
import io
import itertools
import logging
import multiprocessing
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kcli.cli.main import main
from kcli.cli.parsing.registry import declared
from kcli.sandbox.answers import describe_configs
from kcli.sandbox.configs import broker_configs
from kcli.sandbox.configs.topic_configs import TOPIC_CONFIGS
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import redirected
from tests.cli.leaps import Leaps, leaping
from tests.cli.mutation import Mutation, listening, mutated
from tests.cli.mutation import Path as Field

NEWLINE = "\n"
SEEDS = 20_000  # of each command, where MUTATED_SEEDS does not say otherwise: an hour and a half on two cores
HANG = 20.0  # seconds of work
LONG = 200.0  # seconds of waiting, which are leapt over: see leaps.py
ENOUGH = 20.0  # seconds of following, likewise
COLLECTED = 30
"""Runs between two collections of cycles, whose destructors are heard. More of them do not fit the processor's cache,
and the collector takes half as long again."""
MORE = 300
"""Records that runs may add before all of them are taken away: each `consume` reads, and each `copy` doubles them."""
CONFIGS = 6
"""Each sixth config of a broker is here, and those of topics, 82 of 340: a shorter list is changed in the same ways."""
QUICK = {
    "KCLI_DEFAULT_API_TIMEOUT_MS": "2000", "KCLI_REQUEST_TIMEOUT_MS": "1500",
    "KCLI_SOCKET_CONNECTION_SETUP_TIMEOUT_MS": "1500", "KCLI_SOCKET_CONNECTION_SETUP_TIMEOUT_MAX_MS": "1500",
    "KCLI_DELIVERY_TIMEOUT_MS": "3000", "KCLI_MAX_BLOCK_MS": "2000",
}  # fmt: skip
SECURED = {
    "KCLI_SECURITY_PROTOCOL": "SASL_PLAINTEXT", "KCLI_SASL_MECHANISM": "PLAIN", "KCLI_SASL_USERNAME": "me",
    "KCLI_SASL_PASSWORD": "secret",
}  # fmt: skip

PLAN = '{"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [1], "log_dirs": ["any"]}]}'
DECLARED = """topics:
  made: {partitions: 2, configs: {retention.ms: 1000}}
  new: {partitions: 3}
"""
MEMBER = "-X session.timeout.ms=6000 -X heartbeat.interval.ms=1000 -X max.poll.interval.ms=7000"
MODERN = "-X group.protocol=consumer"
IMPATIENT = (
    "-b BOOTSTRAP -m 2 -X message.timeout.ms=3000 -X socket.timeout.ms=1500 -X socket.connection.setup.timeout.ms=1500"
)
COMMANDS: dict[str, str] = {
    "produce": "produce orders",
    "produce -v": "produce orders -p 1 -v --acks 1",
    "produce in a transaction": "produce orders --transactional-id tx-new",
    "consume": "consume orders -o beginning -e",
    "consume -J": "consume orders -o beginning -e -J -v",
    "consume in a group": "consume orders -g readers -e --from-beginning --timeout-ms 5000 " + MEMBER,
    "consume in a consumer group": "consume orders -g readers2 -e --from-beginning --timeout-ms 5000 " + MODERN,
    "consume in a share group": "consume orders --share-group sharers -n 2 --timeout-ms 5000",
    "consume by time": "consume orders -o @2020-01-01 -e",
    "consume --order": "consume orders -o beginning -e --order time",
    "consume ^": "consume ^or -o beginning -e",
    "tail": "tail orders -n 3 --no-follow",
    "count": "count orders",
    "count --grep": "count orders --grep v",
    "cat -C": "cat " + IMPATIENT + " -C -t orders -e -o beginning",
    "cat -C -J": "cat " + IMPATIENT + " -C -t orders -e -J",
    "cat -G": "cat " + IMPATIENT + " -e " + MEMBER + " -G readers3 orders",
    "cat -P": "cat " + IMPATIENT + " -P -t orders",
    "cat -L": "cat " + IMPATIENT + " -L",
    "cat -L -J": "cat " + IMPATIENT + " -L -J",
    "cat -Q": "cat " + IMPATIENT + " -Q -t orders:0:-1",
    "copy": "copy orders copied",
    "copy --dry-run": "copy orders copied2 --dry-run",
    "redrive": "redrive orders --to copied --execute",
    "pipeline replay": "pipeline replay orders copied --speed max -J",
    "topics list": "topics list",
    "topics list --format json": "topics list --format json",
    "topics list in a state": "topics list --under-replicated --at-min-isr --under-min-isr --unused 1d",
    "topics describe": "topics describe orders",
    "topics create": "topics create another --dry-run",
    "topics create for real": "topics create made",
    "topics delete": "topics delete made --execute",
    "topics alter": "topics alter orders -p 3 --config retention.ms=1000 --execute",
    "topics trim": "topics trim orders:0 --before 1 --execute",
    "topics stats": "topics stats orders",
    "groups list": "groups list",
    "groups describe": "groups describe billing",
    "groups members": "groups members billing",
    "groups why": "groups why billing",
    "groups peek": "groups peek billing",
    "groups delete": "groups delete readers --execute",
    "groups reset": "groups reset billing -t orders --to-earliest --execute",
    "groups reset by time": "groups reset billing -t orders --to-datetime 2020-01-01T00:00:00Z --execute",
    "groups delete-offsets": "groups delete-offsets readers2 -t orders --execute",
    "groups remove-members": "groups remove-members billing --all --execute",
    "groups clone": "groups clone billing cloned --execute",
    "groups export": "groups export billing",
    "groups dlq": "groups dlq billing --execute",
    "streams describe": "streams describe billing",
    "streams reset": "streams reset billing --all-topics --execute",
    "rollback": "rollback billing -t timed --time-field at --start 2020-01-01T00:00:00Z --execute",
    "lag": "lag",
    "lag of a group": "lag billing --by partition --records",
    "lag --watch": "lag --watch --interval 0.5s --refreshes 2",
    "lag record": "lag record --refreshes 1",
    "offsets": "offsets orders -g billing",
    "offsets by time": "offsets orders --at 2020-01-01T00:00:00Z",
    "doctor": "doctor -t orders -g billing",
    "apply": "apply DECLARED --execute",
    "diff": "diff DECLARED",
    "export": "export",
    "brokers list": "brokers list",
    "brokers versions": "brokers versions 1",
    "cluster": "cluster",
    "cluster quorum": "cluster quorum",
    "cluster features": "cluster features",
    "cluster features upgrade": "cluster features upgrade --execute",
    "cluster features set": "cluster features set transaction.version=2 --execute",
    "cluster voters": "cluster voters",
    "cluster voters remove": "cluster voters remove 1 --dry-run",
    "cluster unregister": "cluster unregister 2 --dry-run",
    "logdirs list": "logdirs list",
    "logdirs replicas": "logdirs replicas",
    "configs list": "configs list topic",
    "configs get": "configs get topic orders --all",
    "configs get broker": "configs get broker 1 --all",
    "configs diff": "configs diff broker 1 2",
    "configs set": "configs set topic orders retention.ms=1000 --execute",
    "configs append": "configs append topic orders cleanup.policy=compact --execute",
    "configs unset": "configs unset topic orders retention.ms --execute",
    "quotas list": "quotas list",
    "quotas describe": "quotas describe --user me",
    "quotas alter": "quotas alter --user me producer_byte_rate=1000 --execute",
    "quotas resolve": "quotas resolve --user me --client-id x",
    "raw Metadata": "raw Metadata",
    "raw Metadata --explain": "raw Metadata --explain",
    "raw of a group": "raw DescribeGroups {\"groups\":[\"billing\"]} --broker group:billing",
    "meta": "meta orders",
    "coord": "coord billing",
    "txn list": "txn list",
    "txn describe": "txn describe tx",
    "txn producers": "txn producers orders",
    "txn find-hanging": "txn find-hanging orders",
    "txn abort": "txn abort orders:0 --start-offset 0 --execute",
    "txn fence": "txn fence tx --execute",
    "acls list": "acls list",
    "acls add": "acls add --allow User:me --operation read --topic orders --execute",
    "acls remove": "acls remove --principal User:me --execute",
    "acls who-can": "acls who-can read topic orders",
    "users list": "users list",
    "users describe": "users describe me",
    "users set": "users set me --password-file PASSWORD --execute",
    "users delete": "users delete me --execute",
    "tokens list (SASL)": "tokens list",
    "tokens create (SASL)": "tokens create --hmac-file HMAC",
    "topics list (SASL)": "topics list",
    "topics list (SCRAM)": "topics list -X sasl.mechanism=SCRAM-SHA-256",
    "doctor (SASL)": "doctor",
    "leaders list": "leaders list",
    "leaders elect": "leaders elect orders --execute",
    "reassign list": "reassign list",
    "reassign plan": "reassign plan orders",
    "reassign execute": "reassign execute PLAN --execute",
    "reassign verify": "reassign verify PLAN",
    "reassign cancel": "reassign cancel PLAN --execute",
    "reassign throttle": "reassign throttle 1MB --execute",
    "reassign disks": "reassign disks orders --balance --dry-run",
}  # fmt: skip
"""Lines of words; those in capitals are files, and the address."""
ELSEWHERE = {"sandbox", "faults", "demo", "pipeline", "tui", "config", "schema", "completion", "registry"}
"""No broker's answers, but those of a registry (tests/registry/test_answers.py), or none; or, not run here, those of
the dashboard and of Spark."""
FOLLOWING = (
    "consume", "tail", "cat -C", "cat -G", "count", "copy", "redrive", "pipeline replay",
)  # fmt: skip
"""Wait for records and partitions as long as nobody interrupts: that is no hang when a Ctrl-C ends it."""
SEEDING = (
    ("topics create made copied timed -p 2", b""),
    ("produce orders -p 0 -k k -H h=v -Z", b"a\nb\nc\n"),
    ("produce orders -p 1", b"d\ne\n"),
    ("produce timed -p 1", b'{"at": "2024-01-01T00:00:00Z"}\n{"at": "2024-01-02T00:00:00Z"}\n'),
    ("consume orders -g billing -c 2 --from-beginning -q", b""),
    ("consume orders -g readers -c 2 --from-beginning -q", b""),
    ("consume orders -g readers2 -c 2 --from-beginning -q", b""),
    ("produce orders --transactional-id tx -H kafka_dlt-original-topic=copied", b"t\n"),
    ("acls add --allow User:me --operation read --topic orders --execute", b""),
    ("quotas alter --user me producer_byte_rate=1000 --execute", b""),
    ("users set me --password-file PASSWORD --execute", b""),
)
TOPICS = {"orders", "made", "copied", "timed"}
EXCEPTIONS = "|".join(
    name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)
)
OURS = re.compile(rf"Traceback|\b({EXCEPTIONS}|struct\.error|CancelledError|JSONDecodeError|gaierror)\b")
"""What nobody may read who is no programmer of kcli."""


class Hung(KeyboardInterrupt):
    """A run did not end by itself."""


@dataclass
class Run:
    code: int | None
    out: str
    err: str
    fault: str = ""  # what must not be
    log: list[str] = field(default_factory=list)


class Bench:
    """A sandbox, which has before each run what commands take from it, and the files that lines name. One with SASL is
    for commands whose name says so."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept: dict[str, dict[Any, Any]] = {}
        self._while = contextlib.ExitStack()
        self._while.enter_context(alone())
        self._while.enter_context(few_configs())
        self._leaps = self._while.enter_context(leaping())
        self._around = self._while.enter_context(contextlib.ExitStack())
        self._surroundings: object = None
        (folder / "PLAN").write_text(PLAN)
        (folder / "password").write_text("secret")
        (folder / "password").chmod(0o600)
        (folder / "DECLARED.yaml").write_text(DECLARED)
        self._secured = SandboxThread(topics={"orders": 2}, sasl={"me": "secret"})
        self._open = SandboxThread(brokers=2, topics={"orders": 2}, disks=2, rebalance_delay=0.0)
        self._secured.start()
        self._open.start()
        for line, given in SEEDING:
            done = self._run("", line, given, patient=True)
            assert done.code == 0, (line, done)
        self._ends: dict[tuple[str, int], int] = self._open.call(_ends)
        self._kept = self._open.call(_committed)
        self._rights = self._open.call(_rights)
        self.runs = 0
        self.freeze()

    def freeze(self) -> None:
        """What is here now is not looked through again and again; `run` collects."""
        gc.collect()
        gc.freeze()
        gc.disable()

    def close(self) -> None:
        for one in (self._open, self._secured):
            with contextlib.suppress(Exception):  # the sandbox may have met what it asked for itself
                one.close()
        gc.unfreeze()
        gc.collect()
        gc.freeze()  # the rest of the suite stays
        gc.enable()
        self._while.close()

    def fields(self, name: str) -> list[Field]:
        """What a clean run of the command is told."""
        found: set[Field] = set()
        self._mend()
        with listening(found):
            done = self._run(name, COMMANDS[name], INPUT)
        assert not done.fault, done
        assert found, f"{name} asked nothing: {done}"
        return sorted(found)

    def run(self, name: str, seed: int, fields: list[Field]) -> Run:
        """The command against wrong answers."""
        self._mend()
        mutation = Mutation(seed, fields)
        with mutated(mutation), Heard() as late:
            done = self._run(name, COMMANDS[name], INPUT)
            self.runs += 1
            if self.runs % COLLECTED == 0:
                gc.collect()
        if late.log and not done.fault:
            done.fault = f"after one of the last {COLLECTED} runs: " + NEWLINE.join(late.log)[-5000:]
        if done.fault:
            changed = ", ".join(".".join(path) for path in mutation.done) or "nothing"
            done.fault = f"{name} (seed {seed}; {changed}): {done.fault}"
        return done

    def _mend(self) -> None:
        """Have what a command took from the sandbox there again, and not all that commands added."""
        if not self._is_whole(self._open._sandbox):  # a call of its thread costs more than a look
            self._open.call(self._restore)

    def _is_whole(self, sandbox: Any) -> bool:
        access, groups = sandbox.cluster.access, sandbox.cluster.groups.offsets.by_group
        rights = access.acls.rules, access.scram._changed, sandbox.cluster.quotas.by_entity
        if rights != self._rights or not sandbox.topics.by_name.keys() >= TOPICS:
            return False
        return all(map(groups.get, self._kept)) and self._added(sandbox) <= MORE

    def _added(self, sandbox: Any) -> int:
        """The records that runs have added to the topics."""
        return sum(_ends(sandbox).values()) - sum(self._ends.values())

    def _restore(self, sandbox: Any) -> None:
        """Have the topics, groups, users, ACLs and quotas again that a command deleted, and without the records that
        commands added."""
        cluster, (rules, users, quotas) = sandbox.cluster, self._rights
        cluster.access.acls.rules, cluster.access.scram._changed = set(rules), dict(users)
        cluster.quotas.by_entity = dict(quotas)
        for topic in TOPICS - sandbox.topics.by_name.keys():
            sandbox.topics.create(topic, 2)
        if self._added(sandbox) > MORE:
            for topic, index in _ends(sandbox):
                sandbox.faults.logs.truncate(topic, index, self._ends.get((topic, index), 0))
                sandbox.topics.partition(topic, index).producers.known.clear()
            by_group = sandbox.cluster.groups.offsets.by_group
            for group in [*by_group]:  # no commit is past the end
                by_group[group] = dict(self._kept.get(group, {}))
        for group, kept in self._kept.items():
            if not sandbox.cluster.groups.offsets.by_group.get(group):
                sandbox.cluster.groups.get_or_create(group)
                sandbox.cluster.groups.offsets.by_group[group] = dict(kept)

    def _run(self, name: str, line: str, given: bytes, *, patient: bool = False) -> Run:
        secured = name.endswith(("(SASL)", "(SCRAM)"))
        bootstrap = (self._secured if secured else self._open).bootstrap
        files = {
            "BOOTSTRAP": bootstrap, "PLAN": str(self.folder / "PLAN"),
            "DECLARED": str(self.folder / "DECLARED.yaml"), "HMAC": str(self.folder / "hmac"),
            "PASSWORD": str(self.folder / "password"),
        }  # fmt: skip
        words = [files.get(word, word) for word in line.split()]
        (self.folder / "hmac").unlink(missing_ok=True)
        settings = ({} if patient else QUICK) | (SECURED if secured else {})
        follows = name.startswith(FOLLOWING)
        self._surround(bootstrap, settings)
        return run(words, given, self._leaps, follows=follows)

    def _surround(self, bootstrap: str, settings: dict[str, str]) -> None:
        """Have the environment of a run, which most runs share."""
        if self._surroundings != (bootstrap, settings):
            self._around.close()
            self._around.enter_context(environment(bootstrap, self.folder, settings))
            self._surroundings = (bootstrap, settings)


def _ends(sandbox: Any) -> dict[tuple[str, int], int]:
    """The end of each partition."""
    topics = [*sandbox.topics.by_name.values()]  # at once: the sandbox's thread may still delete one
    return {
        (topic.name, part.index): part.log.end for topic in topics if topic.name in TOPICS for part in topic.partitions
    }


def _committed(sandbox: Any) -> dict[str, Any]:
    """What each group has committed."""
    return {name: dict(kept) for name, kept in sandbox.cluster.groups.offsets.by_group.items()}


def _rights(sandbox: Any) -> tuple[set[Any], dict[Any, Any], dict[Any, Any]]:
    """ACLs, users and quotas."""
    quotas = {at: dict(values) for at, values in sandbox.cluster.quotas.by_entity.items()}
    return set(sandbox.cluster.access.acls.rules), dict(sandbox.cluster.access.scram._changed), quotas


READ = ("PATH", "HOME", "TMP", "LANG", "LC_", "TZ", "TERM", "NO_COLOR", "PYTHON", "PYTEST_", "KCLI_", "XDG_")
"""How the names of variables begin that are left to the runs."""
INPUT = b"one\ntwo\n"


def run(words: list[str], given: bytes, leaps: Leaps, *, follows: bool = False) -> Run:
    """A command line in this process, interrupted after a while when it `follows`. `fault` says what a user should
    never have met: a traceback, the name of an exception of Python's, an exit code that is none of ours, no end."""
    heard = Heard()
    stdin, out, err = streams = _streams()
    for file in streams:
        file.seek(0)
        file.truncate()
    stdin.write(given)
    stdin.seek(0)
    code, fault = None, ""
    with heard, redirected(stdin.fileno(), out.fileno(), err.fileno()):
        with deadline(leaps, follows=follows) as stuck:
            try:
                code = main(words)
            except Exception:  # noqa: BLE001  # whatever it is, it is found
                fault = traceback.format_exc()
            except BaseException as odd:  # noqa: BLE001
                fault = f"ended with {odd!r}"
    out.seek(0)
    err.seek(0)
    said, told = out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")
    if stuck:
        fault = f"did not end within {HANG:g} s of work or {LONG:g} s of waiting:\n{NEWLINE.join(stuck)}"
    found = OURS.search(told)
    if not fault and found is not None:
        fault = f"stderr has {found[0]}: {told[-3000:]}"
    if not fault and heard.log:
        fault = "\n".join(heard.log)[-5000:]
    if not fault and code not in (0, 1, 2, 3, 4, 5, 130):
        fault = f"exit code {code}"
    return Run(code, said, told, fault, heard.log)


@functools.cache
def _streams() -> tuple[io.FileIO, io.FileIO, io.FileIO]:
    """The files that all runs have for 0, 1 and 2: emptying one costs less than a new one."""
    stdin, out, err = (tempfile.TemporaryFile(buffering=0) for _ in range(3))  # noqa: SIM115
    return stdin, out, err


@contextlib.contextmanager
def few_configs() -> Iterator[None]:
    """The sandboxes' brokers have fewer configs, those of their topics among them."""
    every = broker_configs.names()
    of_topics = {definition.broker for definition in TOPIC_CONFIGS.values()}
    some = {name: kind for at, (name, kind) in enumerate(every.items()) if at % CONFIGS == 0 or name in of_topics}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(describe_configs, "names", lambda: some)
        yield


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Without the variables that no run reads: kcli looks through all of them."""
    others = {name: os.environ.pop(name) for name in [*os.environ] if not name.startswith(READ)}
    try:
        yield
    finally:
        os.environ.update(others)


@contextlib.contextmanager
def environment(bootstrap: str, folder: Path, settings: dict[str, str]) -> Iterator[None]:
    """The settings and no others; whatever kcli keeps is kept in the folder."""
    places = dict.fromkeys(("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), str(folder))
    wanted = {**settings, **places, "KCLI_BOOTSTRAP": bootstrap}
    kept = {name: value for name, value in os.environ.items() if name.startswith("KCLI_") or name in wanted}
    for name in kept.keys() - wanted.keys():
        del os.environ[name]
    os.environ.update(wanted)
    before, socket.getaddrinfo = socket.getaddrinfo, _numeric
    try:
        yield
    finally:
        socket.getaddrinfo = before
        for name in wanted.keys() - kept.keys():
            os.environ.pop(name, None)
        os.environ.update(kept)


_look_up = socket.getaddrinfo


def _numeric(host: Any, port: Any, *kind: Any, **more: Any) -> Any:
    """No name is looked up on the network, and what is wrong with a name is wrong all the same."""
    if host not in ("localhost", "127.0.0.1"):
        return _look_up(host, port, flags=socket.AI_NUMERICHOST)
    return _look_up(host, port, *kind, **more)


@contextlib.contextmanager
def deadline(leaps: Leaps, *, work: float = HANG, follows: bool = False) -> Iterator[list[str]]:
    """The stacks of a run that does not end within so many seconds of work. A run that follows is interrupted before,
    if all that it does is wait."""
    stuck: list[str] = []
    interrupts = [True] if follows else []
    began = time.perf_counter()  # no clock that leaps

    def late(_: int, frame: Any) -> None:
        if interrupts and time.perf_counter() - began < work:
            interrupts.pop()
            leaps.ring(LONG)
            os.kill(os.getpid(), signal.SIGINT)
            return
        with contextlib.suppress(RuntimeError):  # there is no loop
            waiting = [task for task in asyncio.all_tasks() if not task.get_name().startswith("message pump")]
            stuck.extend(map(_awaited, waiting))
        stuck.append("".join(traceback.format_stack(frame)[-3:]))
        raise Hung

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, work, 1.0)
    leaps.ring(ENOUGH if follows else LONG)
    try:
        yield stuck
    except Hung:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        leaps.ring(0)
        signal.signal(signal.SIGALRM, before)


def _awaited(task: asyncio.Task[Any]) -> str:
    """What a task waits for, from the outside in."""
    lines, inner = [task.get_name()], task.get_coro()
    while inner is not None:
        frame = getattr(inner, "cr_frame", None)
        if frame is not None:
            lines.append(f"  {frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}")
        inner = getattr(inner, "cr_await", None)
    return "\n".join(lines)


class Heard(logging.Handler):
    """What asyncio, threads and destructors complain about, which no command would be told."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            self.log.append(self.format(record))

    def _thread(self, about: threading.ExceptHookArgs) -> None:
        if about.thread is None or about.thread.name != "kcli-sandbox":
            self.log.append("".join(traceback.format_exception(about.exc_type, about.exc_value, about.exc_traceback)))

    def _destructor(self, about: Any) -> None:
        self.log.append(f"{about.err_msg}: {about.exc_value!r} in {about.object!r}")

    def __enter__(self) -> Heard:
        self._hooks = threading.excepthook, sys.unraisablehook
        logging.getLogger("asyncio").addHandler(self)
        threading.excepthook, sys.unraisablehook = self._thread, self._destructor
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("asyncio").removeHandler(self)
        threading.excepthook, sys.unraisablehook = self._hooks


def command_of(line: str) -> str:
    """The command of a line, as it is declared."""
    subject = line.split()[0]
    found = declared(subject)
    names = [f"{subject} {verb}".strip() for verb in (found if isinstance(found, dict) else [""])]
    return max((name for name in names if f"{line} ".startswith(f"{name} ")), key=len, default=subject)


def plan(names: list[str], seeds: int, first: int) -> dict[str, range]:
    """The seeds of each line: all of them, or half of them where the command has other lines too."""
    commands = {name: command_of(COMMANDS[name]) for name in names}
    lines = Counter(commands.values())
    return {name: range(first, first + (seeds if lines[commands[name]] == 1 else -(-seeds // 2))) for name in names}


def shared(seeds: dict[str, range], workers: int) -> list[dict[str, range]]:
    """A share for each worker. Where lines are enough for all workers, a line has one, which imports it once."""
    shares: list[dict[str, range]] = [{} for _ in range(workers)]
    if len(seeds) < workers:
        return [{name: every[at::workers] for name, every in seeds.items()} for at in range(workers)]
    for name, every in sorted(seeds.items(), key=lambda one: -len(one[1])):
        min(shares, key=lambda share: sum(map(len, share.values())))[name] = every
    return shares


def loop(names: list[str], seeds: int, first: int, workers: int) -> int:
    """Play the seeds of each command in `workers` processes; return the number of faults."""
    begin = time.perf_counter()
    planned = plan(names, seeds, first)
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        played = [share.result() for share in [pool.submit(play, share) for share in shared(planned, workers)]]
    faults = sum(count for count, _ in played)
    took = sum((seconds for _, seconds in played), Counter[str]())
    print("slowest: " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in took.most_common(8)))
    runs, commands = sum(map(len, planned.values())), len({command_of(COMMANDS[name]) for name in names})
    print(
        f"{runs} runs of {len(names)} lines of {commands} commands, {faults} faults, "
        f"{time.perf_counter() - begin:.0f} s"
    )
    return faults


def play(share: dict[str, range]) -> tuple[int, Counter[str]]:
    """These seeds of each line: the number of faults, and the seconds that each line took."""
    faults = 0
    took: Counter[str] = Counter()
    memory = "/dev/shm"  # where what a command writes costs no disk, if there is one
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        bench = Bench(Path(folder))
        fields = {name: bench.fields(name) for name in share}
        bench.freeze()  # the modules of all commands too
        for row in itertools.zip_longest(*share.values()):
            for name, seed in zip(share, row, strict=True):
                if seed is None:
                    continue
                started = time.perf_counter()  # no clock that leaps
                run = bench.run(name, seed, fields[name])
                took[name] += time.perf_counter() - started  # type: ignore[assignment]
                if run.fault:
                    faults += 1
                    print(f"--- {run.fault}", flush=True)
        bench.close()
    return faults, took


if __name__ == "__main__":
    wanted = sys.argv[1:] or list(COMMANDS)
    of_each = int(os.environ.get("MUTATED_SEEDS", SEEDS))
    at_once = int(os.environ.get("MUTATION_WORKERS", os.cpu_count() or 1))
    sys.exit(1 if loop(wanted, of_each, int(os.environ.get("MUTATION_SEED", "0")), at_once) else 0)
