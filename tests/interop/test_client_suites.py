"""The tests of other clients on three brokers of the sandbox: it passes what a real Kafka 4.4 passes.

Sources and programs are kept in a cache outside the tree. A test that waits for moments may fail while others keep the
machine busy, so those that failed run once more, alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.interop.conftest import sandbox_process
from tests.registry.oracles import check_go, moved, root

LIMIT = 900
"""Seconds for a suite, which takes one to five minutes on two quiet cores."""
FRANZ, FRANZ_VERSION = "github.com/twmb/franz-go", "v1.22.3"
FRANZ_SKIPS = {
    "TestIssueProduceBrokerTooOldFailsRecords", "TestOAuthAuth", "TestSCRAMAuth", "TestSCRAMAuthBadCredentials",
}  # fmt: skip
"""An old broker and two kinds of SASL, which take clusters of their own."""
LIBRDKAFKA = "@confluentinc/kafka-javascript@1.10.1"
"""The package of npm that has the sources of librdkafka 2.15.1, with its tests."""
UNFIT = "0052 0077 0109 0115 0119"
"""librdkafka's tests that start Kafka's scripts."""
DELAYED = "0118"
"""Its test that needs the delay before the first rebalance of a group, three seconds in Kafka."""

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timeout(3 * LIMIT)]


def output(words: Sequence[str | Path], cwd: Path, **environment: str) -> str:
    """What a program says, errors included. Raises TimeoutExpired."""
    done = subprocess.run(
        words, cwd=cwd, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT,
    )  # fmt: skip
    return done.stdout


@pytest.mark.needs("go")
def test_franz_go_finds_a_kafka(tmp_path: Path) -> None:
    check_go()
    source = Path(json.loads(output(["go", "mod", "download", "-json", f"{FRANZ}@{FRANZ_VERSION}"], tmp_path))["Dir"])
    program = root() / f"kgo-{FRANZ_VERSION}.test"
    if not program.exists():
        built = output(["go", "test", "-c", "-o", tmp_path / program.name, "."], source / "pkg/kgo")
        assert (tmp_path / program.name).exists(), built
        program.parent.mkdir(parents=True, exist_ok=True)
        moved(Path(shutil.copy(tmp_path / program.name, f"{program}.{os.getpid()}")), program)

    def results(*words: str) -> dict[str, set[str]]:
        told = output(
            [program, "-test.v", f"-test.timeout={LIMIT}s", *words], source / "pkg/kgo", KGO_SEEDS=bootstrap,
            KGO_TEST_RF="3", KGO_TEST_RECORDS="5000", KGO_LOG_LEVEL="none", TMPDIR=str(tmp_path),
        )  # fmt: skip
        (tmp_path / "told").write_text(told)
        return {word: set(re.findall(rf"^--- {word}: (\S+)", told, re.M)) for word in ("PASS", "FAIL", "SKIP")}

    with sandbox_process(brokers=3) as bootstrap:
        first = results()
        failed = {name for name in first["FAIL"] if results(f"-test.run=^{name}$")["PASS"] != {name}}
    assert not failed, (tmp_path / "told").read_text()[-4000:]
    assert first["SKIP"] == FRANZ_SKIPS
    assert len(first["PASS"] | first["FAIL"]) > 150


@pytest.mark.needs("gcc", "node", "npm")
def test_librdkafka_finds_a_kafka(tmp_path: Path) -> None:
    folder = root() / f"librdkafka-{LIBRDKAFKA.rpartition('@')[2]}"
    if not folder.exists():
        told = output(["npm", "pack", "--silent", LIBRDKAFKA], tmp_path)
        packed = list(tmp_path.glob("*.tgz"))
        assert packed, told
        shutil.unpack_archive(packed[0], tmp_path, filter="tar")
        sources = tmp_path / "package/deps/librdkafka"
        told = output(["./configure", "--disable-gssapi", "--disable-curl"], sources)
        told += output(["make", "-j2", "libs"], sources) + output(["make", "build"], sources / "tests")
        assert (sources / "tests/test-runner").exists(), told[-4000:]
        folder.parent.mkdir(parents=True, exist_ok=True)
        moved(Path(shutil.copytree(sources, f"{folder}.{os.getpid()}", symlinks=True)), folder)

    def results(*words: str, **environment: str) -> dict[str, str]:
        told = output(
            ["./test-runner", "-L", "-K", "-Q", *words], folder / "tests", LD_LIBRARY_PATH="../src:../src-cpp",
            RDKAFKA_TEST_CONF=str(tmp_path / "test.conf"), TEST_KAFKA_VERSION="4.4.0", **environment,
        )  # fmt: skip
        (tmp_path / "told").write_text(told)
        return dict(re.findall(r"^\|\S* (\d{4}\w+) +\| +(PASSED|FAILED)", re.sub(r"\x1b\[\d*m", "", told), re.M))

    with sandbox_process(brokers=3, partitions=4) as bootstrap:
        (tmp_path / "test.conf").write_text(f"bootstrap.servers={bootstrap}\ntest.topic.random=true\n")
        first = results(TESTS_SKIP=f"{UNFIT} {DELAYED}")
        again = [name for name, result in first.items() if result == "FAILED"]
        failed = [name for name in again if results("-p1", TESTS=name).get(name) != "PASSED"]
    assert not failed, (tmp_path / "told").read_text()[-4000:]
    assert len(first) > 80
    with SandboxThread(brokers=3, partitions=4, rebalance_delay=3.0) as sandbox:
        (tmp_path / "test.conf").write_text(f"bootstrap.servers={sandbox.bootstrap}\ntest.topic.random=true\n")
        assert set(results("-p1", TESTS=DELAYED).values()) == {"PASSED"}
