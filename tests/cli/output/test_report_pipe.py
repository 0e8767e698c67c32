"""A reader of the report that leaves costs nothing but the report (D46)."""

from __future__ import annotations

import subprocess

import pytest

from tests.cli.conftest import Shell
from tests.programs import KCLI


@pytest.mark.process
def test_D46_the_report_into_head_delivers_everything_and_ends_quietly(kcli: Shell) -> None:
    topic = kcli.topic()
    words = [*KCLI, "produce", topic, "--report", "/dev/stdout", "-X", "batch.size=1000", "-X", "linger.ms=0"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=kcli.environment
    ) as producing:
        assert producing.stdin is not None
        assert producing.stdout is not None
        assert producing.stderr is not None
        producing.stdin.write(b"".join(b"%05d\n" % n for n in range(1000)))
        producing.stdin.flush()
        assert b'"acked"' in producing.stdout.readline()
        producing.stdout.close()
        producing.stdin.write(b"".join(b"%05d\n" % n for n in range(1000, 5000)))
        producing.stdin.close()
        assert producing.wait(60) == 0
        said = producing.stderr.read()
    assert b"Traceback" not in said
    assert b"raised" not in said
    assert kcli.ok("consume", topic, "-e").split() == [b"%05d" % n for n in range(5000)]
