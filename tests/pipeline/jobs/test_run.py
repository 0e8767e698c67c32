"""What a run says of its end: cancelled in time, too late, or not at all. Without Spark."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from kcli.cli.commands.pipeline.options import PipelineOptions
from kcli.cli.commands.pipeline.session.drive import Run, Signals
from kcli.cli.commands.pipeline.session.job import Job, Outcome
from kcli.cli.runtime.signals import INTERRUPTED
from kcli.model import TopicPartition
from kcli.pipeline.jobs.work import Action
from tests.pipeline.topics import Topics


class Remote:
    """A session as far as an action needs one: cancelled work raises, once it has tasks."""

    def __init__(self):
        self.interrupted = threading.Event()
        self.asked = 0
        self.has_tasks = True

    def addTag(self, tag):
        pass

    def interruptTag(self, tag):
        self.asked += 1
        if self.has_tasks:
            self.interrupted.set()


class Kept(Job):
    name = verb = source = destination = "x"
    spans: dict[TopicPartition, tuple[int, int]] = {}  # noqa: RUF012
    finished = undone = False

    def finish(self, work, seen):
        self.finished = True
        return Outcome(records=3)

    def undo(self):
        self.undone = True


class Silent:
    def end(self, seen, outcome):
        pass

    def at(self, *told, **more):
        pass

    def close(self):
        pass

    def poll(self):
        return []


def ran(action, signals, **more):
    usual = {"quiet": False, "streaming": False, "mode": "batch", "options": PipelineOptions(), "format": None}
    frame = SimpleNamespace(**{**usual, "connection": SimpleNamespace(verbose=False), **more})
    job = Kept()
    return Run(frame, job, Silent(), signals, Silent()).through(action, Silent()), job


def test_a_batch_that_is_cancelled_is_interrupted_and_undone(capfd):
    spark, signals = Remote(), Signals()
    signals.asked = 1

    def work():
        assert spark.interrupted.wait(20)
        raise RuntimeError("cancelled")

    code, job = ran(Action(spark, work), signals)
    assert (code, job.finished, job.undone) == (INTERRUPTED, False, True)
    assert "interrupted: nothing was kept" in capfd.readouterr().err


def test_a_wish_that_finds_no_task_yet_is_said_again_until_there_is_one():
    spark, signals = Remote(), Signals()
    signals.asked, spark.has_tasks = 1, False
    planned = threading.Event()

    def work():
        assert planned.wait(20)
        spark.has_tasks = True
        assert spark.interrupted.wait(20)
        raise RuntimeError("cancelled")

    def plan():
        spark.asked += 1
        if spark.asked > 2:
            planned.set()
        if spark.has_tasks:
            spark.interrupted.set()

    spark.interruptTag = lambda tag: plan()
    code, job = ran(Action(spark, work), signals)
    assert (code, job.undone) == (INTERRUPTED, True)


@pytest.mark.parametrize("when", ["in its last moment", "after it"])
def test_a_batch_that_was_done_all_the_same_is_done_and_kept(capfd, when):
    spark, signals = Remote(), Signals()
    if when == "in its last moment":
        signals.asked = 1
        action = Action(spark, lambda: spark.interrupted.wait(20))
    else:
        action = Action(spark, lambda: setattr(signals, "asked", 1))
    code, job = ran(action, signals)
    assert (code, job.finished, job.undone) == (0, True, False)
    said = capfd.readouterr().err
    assert "it was complete before it could be cancelled" in said
    assert "nothing was kept" not in said


def test_a_group_that_cannot_be_written_at_the_end_is_told_and_the_work_is_done(capfd, monkeypatch):
    from kcli.cli.commands.pipeline.session import stream
    from kcli.errors import KcliError

    def refused(frame, group, ends):
        raise KcliError("it has members")

    monkeypatch.setattr(stream, "show_group", refused)
    action = Action(Remote(), lambda: {"any": 1})
    code, job = ran(action, Signals(), streaming=True, mode="once", options=PipelineOptions(commit_group="g"))
    assert (code, job.undone) == (0, False)
    assert "--commit-group g: it has members" in capfd.readouterr().err


@pytest.fixture
def jobs(monkeypatch, tmp_path):
    """The job that a line makes, and that is not run."""
    from kcli.cli.commands.pipeline import copy, importing
    from kcli.cli.commands.pipeline.session.frame import Frame
    from kcli.cli.main import main

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Frame, "session", lambda *args, **more: None)
    made = []
    for command in (copy, importing):
        monkeypatch.setattr(command, "drive", lambda frame, job: made.append(job) or 0)

    def job(*words):
        assert main(["pipeline", *words]) == 0
        return made[-1]

    return job


def test_a_copy_is_the_same_pipeline_whichever_server_of_its_cluster_is_asked(jobs, topics, sandbox, request):
    """Its name is that of its checkpoint, and of the group that says what was copied already."""
    source, target = topics.make(1), topics.make(1)
    port = topics.bootstrap.rpartition(":")[2]
    one = jobs("copy", source, target, "--exactly-once", "--once", "-b", f"127.0.0.1:{port}")
    same = jobs("copy", source, target, "--exactly-once", "--once", "-b", f"127.0.0.1:1,localhost:{port}")
    assert (one.pipeline, one.checkpoint) == (same.pipeline, same.checkpoint)
    elsewhere = Topics(sandbox.bootstrap, request.node.name)
    assert elsewhere.make(1) == source
    assert elsewhere.make(1) == target
    other = jobs("copy", source, target, "--once", "-b", topics.bootstrap, "--to-bootstrap", sandbox.bootstrap)
    assert other.pipeline != one.pipeline
    assert jobs("copy", source, target, "--once", "--name", "mine", "-b", topics.bootstrap).pipeline == "mine"


def test_files_that_one_cluster_has_are_new_to_another(jobs, topics, sandbox, request, tmp_path):
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "a.json").write_text("{}")
    topic = topics.make(1)
    assert Topics(sandbox.bootstrap, request.node.name).make(1) == topic
    line = ("import", "inbox", topic, "--once", "-b")
    here = jobs(*line, topics.bootstrap)
    assert jobs(*line, topics.bootstrap.replace("127.0.0.1", "localhost")).checkpoint == here.checkpoint
    assert jobs(*line, sandbox.bootstrap).checkpoint != here.checkpoint


@pytest.mark.parametrize("command", [("pipeline", "export"), ("copy",)])
def test_an_end_that_was_asked_for_is_no_open_transaction(topics, tmp_path, capfd, command):
    from kcli.cli.main import main

    source = topics.make(1)
    topics.values(source, 9)
    target = str(tmp_path / "out") if command[0] == "pipeline" else topics.make(1)
    words = ["-o", "2:5", "--isolation", "read_committed", "-b", topics.bootstrap, "--dry-run"]
    assert main([*command, source, target, *words]) == 0
    assert "transaction" not in capfd.readouterr().err


@pytest.mark.process
def test_who_reads_the_progress_and_leaves_does_not_end_the_work():
    code = """if True:
        from kcli.cli.commands.pipeline.session.progress import Watch
        from kcli.pipeline.progress import Progress
        watch = Watch("export", lines=True)
        for _ in range(3):
            watch._printed = -9.0
            watch.at(Progress(), None, (0, 0))
        watch.at(Progress(), None, (0, 0), last=True)
        print("the outcome")
    """
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, timeout=60)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
