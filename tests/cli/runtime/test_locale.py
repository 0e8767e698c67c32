"""Names that are not ASCII where Python knows no locale, as with LC_ALL=C in a container."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.cli.conftest import KCLI, Shell


@pytest.mark.process
def test_a_name_that_is_not_ascii_needs_no_locale(kcli: Shell) -> None:
    bare = {**kcli.environment, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    topic = kcli.topic()
    kcli.ok("produce", topic, "--value", "x")
    kcli.ok("consume", topic, "-g", "é", "-c", "1", "--from-beginning", "-q")
    done = subprocess.run([*KCLI, "groups", "describe", "é".encode(), "-J"], env=bare, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["groups"][0]["group"] == "é"
