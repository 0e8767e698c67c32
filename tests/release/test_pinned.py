"""What a release takes from others is named by its content: GitHub actions by their commit, the wheel by its folder."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
USES = re.compile(r"uses: (\S+)(.*)")


def test_actions_are_pinned_by_commit_and_say_which_version_that_is() -> None:
    found = [match for path in ROOT.glob(".github/workflows/*.yml") for match in USES.findall(path.read_text())]
    assert len(found) > 10
    for action, comment in found:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r"  # v\d+\.\d+\.\d+", comment), action
    versions: dict[str, set[str]] = {}
    for action, comment in found:
        versions.setdefault(action.partition("@")[0], set()).add(action + comment)
    assert all(len(same) == 1 for same in versions.values()), "one version of each action"


def test_the_container_installs_the_wheel_that_was_built() -> None:
    lines = (ROOT / "release/Containerfile").read_text().replace("\\\n", "").splitlines()
    (install,) = [line for line in lines if "pip install" in line]
    first = install.split("&&")[1]
    assert "--no-index --no-deps --find-links /wheels kcli-kafka" in " ".join(first.split())
