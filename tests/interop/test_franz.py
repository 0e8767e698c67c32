"""The tests of franz-go's client on three brokers of the sandbox: a real Kafka 4.4 passes all that it does not skip."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.interop.conftest import sandbox_process
from tests.registry.oracles import check_go, moved, root

MODULE, VERSION = "github.com/twmb/franz-go", "v1.22.3"
LIMIT = 600
"""Seconds for the suite, which takes 90 on two quiet cores."""
SKIPPED = {
    "TestIssueProduceBrokerTooOldFailsRecords", "TestOAuthAuth", "TestSCRAMAuth", "TestSCRAMAuthBadCredentials",
}  # fmt: skip
"""An old broker and two kinds of SASL, which take clusters of their own."""

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.needs("go"), pytest.mark.timeout(LIMIT + 900)]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with the tests, built once for all runs."""
    check_go()
    path = root() / f"kgo-{VERSION}.test"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        module = tmp_path_factory.mktemp("module")
        words = ["go", "mod", "download", "-json", f"{MODULE}@{VERSION}"]
        source = json.loads(subprocess.run(words, cwd=module, capture_output=True, check=True, timeout=300).stdout)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        words = ["go", "test", "-c", "-o", str(fresh), "./pkg/kgo"]
        subprocess.run(words, cwd=source["Dir"], capture_output=True, check=True, timeout=600)
        moved(fresh, path)
    return path


def test_the_sandbox_passes_what_kafka_passes(suite: Path, tmp_path: Path) -> None:
    with sandbox_process(brokers=3) as bootstrap:
        environment = {"KGO_SEEDS": bootstrap, "KGO_TEST_RF": "3", "KGO_TEST_RECORDS": "5000", "KGO_LOG_LEVEL": "none"}
        done = subprocess.run(
            [str(suite), "-test.v", f"-test.timeout={LIMIT}s"], cwd=tmp_path, env={**os.environ, **environment},
            capture_output=True, text=True, errors="replace", timeout=LIMIT + 60, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    lines = done.stdout.splitlines()
    outcomes = {word: {line.split()[2] for line in lines if line.startswith(f"--- {word}: ")}
                for word in ("PASS", "FAIL", "SKIP")}  # fmt: skip
    failed = [number for number, line in enumerate(lines) if line.startswith("--- FAIL: ")]
    why = "\n".join(line for number in failed for line in lines[max(number - 5, 0) : number + 5])
    assert done.returncode == 0, why or "\n".join(lines[-40:]) + done.stderr[-2000:]
    assert (outcomes["FAIL"], outcomes["SKIP"]) == (set(), SKIPPED)
    assert len(outcomes["PASS"]) > 100
