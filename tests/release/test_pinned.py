"""What a release takes from others is named by its content: GitHub actions by their commit, the wheel by its folder."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
    _, first, second, _ = install.split("&&")
    assert "--no-index --no-deps --find-links /wheels kcli-kafka" in " ".join(first.split())
    assert "--require-hashes -r /wheels/requirements.txt" in " ".join(second.split())


@pytest.mark.parametrize("name", ["bundle", "ci"])
def test_a_lock_has_every_dependency_with_hashes(name: str) -> None:
    """`make locks` after a change of pyproject.toml."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = declared["project"]["dependencies"] + (declared["dependency-groups"]["dev"] if name == "ci" else [])
    lock = (ROOT / f"release/locks/{name}.txt").read_text().replace("\\\n", "")
    locked = {Requirement(line.partition(" --hash")[0]).name: line for line in lock.splitlines()}
    assert all("--hash=sha256:" in line for line in locked.values())
    for requirement in map(Requirement, wanted):
        pin = Requirement(locked[canonicalize_name(requirement.name)].partition(" --hash")[0])
        assert requirement.specifier.contains(str(pin.specifier).removeprefix("==")), f"{requirement}: {pin}"
