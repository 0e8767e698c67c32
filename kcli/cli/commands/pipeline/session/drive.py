"""Running a job: Spark up, the work under way, progress, Ctrl-C in three steps, what came of it as an exit code.

The first Ctrl-C (or SIGTERM) drains: a stream ends after the batch it has begun, a batch is cancelled and leaves
nothing behind. The second stops at once. The third kills Spark and us.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, sleep
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from kcli import watchdog
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.session.job import Job, Outcome
from kcli.cli.commands.pipeline.session.metrics import Metrics, metrics_of
from kcli.cli.commands.pipeline.session.progress import ProgressRow, Watch, rows_of
from kcli.cli.output.messages import complain
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.runtime.signals import INTERRUPTED, ended_by
from kcli.errors import KcliError, UsageError
from kcli.model import TopicPartition
from kcli.paths import private
from kcli.pipeline.jobs.checkpoints import Sink
from kcli.pipeline.jobs.locks import held
from kcli.pipeline.jobs.work import Action, Stream, StreamState
from kcli.pipeline.progress import Progress, Sum
from kcli.system.signals import ENDING, HANGUP, heeded
from kcli.text.numbers import size as size_of

if TYPE_CHECKING:
    from kcli.pipeline.progress import Listener
    from kcli.pipeline.session.connect import ConnectSession
    from kcli.pipeline.session.session import Session, SessionSettings

POLL = 0.1  # seconds


class RunRow(Row, section="jobs"):
    name: str = column("Name of the command.", rank=1)
    state: str = column("done or interrupted.", unit="word", rank=1)
    source: str = column("The source.", rank=3)
    destination: str = column("The destination.", rank=3)
    records: int | None = column("Records written; null if not counted.", unit="count", rank=1)
    bad: int = column("Records with a key or value that did not fit its format: null, or in quarantine.", unit="count")
    bytes: int | None = column("Bytes of the files; null for topics.", unit="bytes")
    seconds: float = column("How long it took, with Spark running.")
    rate: float = column("Records per second.", unit="rate")
    lag: int | None = column("Records not yet read; null in a batch.", unit="count", rank=1)
    checkpoint: str | None = column("Folder of the checkpoint.", table=False)
    unknown: int = column("Records with fields that no column has, which were left out.", unit="count")


SHAPE = shape(
    "pipeline.job",
    "Outcome of a pipeline. With ndjson, rows of `progress` come first, each second.",
    ProgressRow,
    RunRow,
)


def drive(frame: Frame, job: Job) -> int:
    """Run the job to its exit code. Raises KcliError, with the log's path where Spark has more to say."""
    from kcli.pipeline.errors import told
    from kcli.pipeline.progress import Listener
    from kcli.pipeline.session.session import Session

    hidden = frame.quiet or (job.prints and os.isatty(1))
    settings = frame.session(job.name, quick=job.quick, packages=job.packages)
    settings = settings.replace(conf=(*job.conf, *settings.conf))
    session = Session(settings) if frame.remote is None else _remote(frame.remote, settings)
    watch = Watch(job.name, job.expected, lines=frame.format == "ndjson", hidden=hidden)
    host = _host(frame.remote, settings)
    with (
        Listener(host) as live,
        Signals() as signals,
        held([absolute(job.checkpoint), absolute(job.exclusive)], name_of(frame, job)),
        metrics_of(frame, job, name_of(frame, job)) as metrics,
    ):
        try:
            if job.checkpoint and "://" not in job.checkpoint:
                Sink(folder=absolute(job.exclusive)).note(Path(job.checkpoint))
            with watch.starting():
                spark = session.start()
            signals.session = session
            signals.listen()
            if frame.options.spark_ui and not frame.quiet:
                complain(f"Spark's UI is at {spark.sparkContext.uiWebUrl}")
            run = Run(frame, job, watch, signals, metrics)
            code = run.through(job.begin(spark, live.address), live)
            run.advise(settings, code)
            return ended_by(signals.by, code)
        except KcliError as problem:
            if "unresolved dependency: " in str(problem):
                raise _unresolved(str(problem)) from problem
            raise
        except BrokenPipeError:  # stdout's reader: the outcome could not be printed
            raise
        except Exception as problem:
            _keep(problem, session.log)
            raise told(problem, session.log) from problem
        finally:
            watch.close()
            session.stop()


def _host(remote: str | None, settings: SessionSettings) -> str:
    """By which address tasks reach this process. Under spark-submit the master is in what that was given."""
    from kcli.pipeline.session import gateway
    from kcli.pipeline.session.gateway import reached_by

    known = {**gateway.submitted_conf(), **dict(settings.conf)}
    return reached_by(remote or known.get("spark.master", settings.master), known)


def _unresolved(text: str) -> UsageError:
    """What to say when Maven's places do not have a package."""
    name = text.partition("unresolved dependency: ")[2].partition(": not found")[0].replace("#", ":").replace(";", ":")
    return UsageError(
        f"Maven cannot find {name}: --packages {name.rpartition(':')[0]}:VERSION uses another version, --conf "
        "spark.jars.repositories=URL another repository, --jars FILE,… local jars"
    )


def _keep(problem: Exception, log: Path) -> None:
    """The whole of what was raised, into the log: the sentence names it."""
    import traceback

    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # spark-submit's JVM has its log elsewhere
    with open(log, "a", encoding="utf-8", errors="replace", opener=private) as out:
        out.write("".join(traceback.format_exception(problem)))


def name_of(frame: Frame, job: Job) -> str:
    """The name of the pipeline in metrics and sentences."""
    return frame.options.name or pipeline_of(job.checkpoint) or f"{job.name}-{job.source}"


def absolute(place: str) -> str:
    """A path as it is meant from every folder; a URI, and what is no path at all (""), stays as it is."""
    return os.path.abspath(place) if place and "://" not in place else place


def pipeline_of(checkpoint: str) -> str:
    """The name of the pipeline whose home a checkpoint is in; "" for one elsewhere."""
    folder, _, last = checkpoint.rpartition("/")
    place, _, name = folder.rpartition("/")
    return name if last == "checkpoint" and place.endswith("kcli/pipelines") else ""


def _remote(url: str, settings: SessionSettings) -> ConnectSession:
    from kcli.pipeline.session.connect import ConnectSession

    return ConnectSession(url, settings)


class Run:
    """One job under way."""

    def __init__(
        self,
        frame: Frame,
        job: Job,
        watch: Watch,
        signals: Signals,
        metrics: Metrics | None = None,
    ) -> None:
        self.frame, self.job, self.watch, self.signals, self.metrics = frame, job, watch, signals, metrics
        self.begun = monotonic()
        self.seen: Progress
        self.stood: StreamState | None = None

    def through(self, work: Action | Stream, live: Listener) -> int:
        """Start it, look at it until it ends, and say what came of it. Returns the exit code."""
        done = False
        try:
            summed = Sum(self.job.spans)
            work.start()
            self._until_the_end(work, live, summed)
            ends = work.result()
            group = self.frame.options.commit_group
            if self.frame.streaming and group and ends:
                self._show_group(group, ends)
            self.seen = summed.take(live.poll(), monotonic())
            self.stood = work.state()
            self._tell(self.seen, self.stood, work)
            cut = work.cancelled or (self.signals.asked and self.frame.mode == "once")
            if work.cancelled and not self.frame.streaming:
                self.watch.close()
                return self._interrupted(Outcome())
            outcome = self.job.finish(work, self.seen)
            outcome.bad = self.job.bad_rows() if self.stood is None else self.stood.bad
            if self.stood is not None and self.job.quarantine and outcome.records >= 0:
                outcome.records -= outcome.bad  # what a stream read, and did not write
            if self.metrics is not None and not self.frame.streaming:
                self.metrics.end(self.seen, outcome)
            done = True
            self.watch.at(self.seen, self.stood, (0, 0), last=True)
            self.watch.close()
            return self._interrupted(outcome) if cut else self._done(outcome)
        finally:
            if not done:
                self.job.undo()

    def _until_the_end(self, work: Action | Stream, live: Listener, summed: Sum) -> None:
        answered = 0
        while work.running:
            if not self.signals.asked and self._stop_file_came():
                self.signals.asked = 1
            if self.signals.asked > answered:
                answered = self.signals.asked
                self._say(answered)
                work.drain() if answered == 1 else work.stop()
            elif work.cancelled and not self.frame.streaming:
                work.stop()  # while Spark plans it has no task yet that could be cancelled
            seen, state = summed.take(live.poll(), monotonic()), work.state()
            self.watch.at(seen, state, work.tasks())
            self._tell(seen, state, work)
            sleep(POLL)

    def _stop_file_came(self) -> bool:
        """Whether --stop-file asks the job to end, as a first SIGTERM does. The file is deleted: it asks one run."""
        file = self.frame.stop_file
        if file is None or not file.exists():
            return False
        file.unlink(missing_ok=True)
        return True

    def _show_group(self, group: str, ends: Mapping[TopicPartition, int]) -> None:
        """Commit the group's last offsets. A failure is only printed, as in mid-stream: the work is done, and the
        checkpoint knows it."""
        from kcli.cli.commands.pipeline.session.stream import show_group

        try:
            show_group(self.frame, group, ends)
        except KcliError as problem:
            complain(f"--commit-group {group}: {problem}")

    def _tell(self, seen: Progress, state: StreamState | None, work: Action | Stream) -> None:
        if self.metrics is not None:
            self.metrics.at(seen, state, work)

    def _say(self, asked: int) -> None:
        if self.frame.quiet:
            return
        if not self.frame.streaming:
            complain("cancelling; Ctrl-C again kills Spark" if asked > 1 else "cancelling")
        elif asked == 1:
            complain("finishing the current batch; Ctrl-C again stops at once")
        else:
            complain("stopping; Ctrl-C again kills Spark")

    def _interrupted(self, outcome: Outcome) -> int:
        self._report(outcome, "interrupted")
        if not self.frame.quiet:
            known = f"{self.job.checkpoint} has its progress; run it again to resume"
            complain(f"interrupted: {known if self.frame.streaming else self.job.half(self.seen)}")
        return INTERRUPTED

    def _say_bad(self, bad: int) -> None:
        if bad and not self.frame.quiet:
            many = (
                f"{bad:,} records do not match the format of their"
                if bad > 1
                else "1 record does not match the format of its"
            )
            what = "which was replaced by null (--on-bad null)"
            if self.job.quarantine:
                what = f"and {'are' if bad > 1 else 'is'} kept in {self.job.quarantine} (--on-bad quarantine)"
            complain(f"{many} key or value, {what}")

    def _done(self, outcome: Outcome) -> int:
        if self.signals.asked and not self.frame.streaming and not self.frame.quiet:
            complain("it was complete before it could be cancelled")
        self._say_bad(outcome.bad)
        self._report(outcome, "done")
        if self.watched:
            complain(self._sentence(outcome))
        return 0

    @property
    def watched(self) -> bool:
        """Whether a good end is reported."""
        frame = self.frame
        return not frame.quiet and (frame.connection.verbose or (os.isatty(2) and not self.job.prints))

    def advise(self, settings: SessionSettings, code: int) -> None:
        """After a good end: how Spark starts sooner, where this machine has no class-data archive."""
        from kcli.pipeline.session import gateway
        from kcli.pipeline.session.warm_up import archived

        ours = self.frame.remote is None and not gateway.submitted()  # no archive serves a JVM that others start
        if code == 0 and self.watched and ours and not archived(settings):
            complain("run `kcli pipeline doctor` once on this machine to halve the start time of Spark")

    def _sentence(self, outcome: Outcome) -> str:
        records = outcome.records if outcome.records >= 0 else self.seen.whole.rows
        size = f" ({size_of(outcome.bytes)})" if outcome.bytes >= 0 else ""
        seconds = monotonic() - self.begun
        rate = f", {records / seconds:,.0f}/s" if seconds > 0 and records else ""
        job = self.job
        return f"{job.verb} {records:,} records from {job.source} to {job.destination}{size} in {seconds:.1f} s{rate}"

    def _report(self, outcome: Outcome, state: str) -> None:
        """The document of --format; with ndjson one line more."""
        if self.frame.format is None:
            return
        from kcli.cli.output.tables.document import Document
        from kcli.cli.output.tables.render import write

        seconds = monotonic() - self.begun
        records = outcome.records if outcome.records >= 0 else None
        document = Document(shape=SHAPE, view=self.frame.view)
        document.of(ProgressRow).extend(rows_of(self.seen, self.stood, "ended"))
        document.of(RunRow).append(
            RunRow(
                name=self.job.name,
                state=state,
                source=self.job.source,
                destination=self.job.destination,
                records=records,
                bad=outcome.bad,
                bytes=outcome.bytes if outcome.bytes >= 0 else None,
                seconds=round(seconds, 3),
                rate=round((records or 0) / seconds, 1) if seconds else 0.0,
                lag=self.stood.lag if self.stood is not None and self.stood.lag >= 0 else None,
                checkpoint=self.job.checkpoint or None,
                unknown=outcome.unknown,
            )
        )
        write(document, self.frame.format)


# Ctrl-C in three steps: drain, stop, kill Spark and us.


class Signals:
    """Counts the signals that ask the job to end. The third one ends everything."""

    def __init__(self) -> None:
        self.asked = 0
        self.by = 0  # the first signal
        self.session: Session | ConnectSession | None = None
        self._before: list[tuple[int, Any]] = []

    def __enter__(self) -> Self:
        return self

    def listen(self) -> None:
        """From now on; PySpark put a handler of its own while the session started."""
        known = [number for number, _ in self._before]
        self._before += [(number, signal.getsignal(number)) for number in ENDING if number not in known]
        for number in heeded():
            signal.signal(number, self._heard)
        watchdog.heed(3)
        if watchdog.interrupted():
            self._heard(signal.SIGINT, None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before:
            signal.signal(number, handler or signal.SIG_DFL)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        watchdog.turned()
        if number == HANGUP and self.asked:
            return  # a terminal that closes sends it twice
        self.by = self.by or number
        self.asked += 1
        if self.asked >= 3:
            if self.session is not None:
                self.session.kill()
            os._exit(128 + number)
