"""Optional programs: which test needs which, and what a run does without them.

`@pytest.mark.needs("kcat")` skips a test where kcat is not installed; the fixtures and folders below need programs too.
A test sees the optional programs that it needs. All others are taken off its PATH, so that a forgotten mark fails on
every machine. The last line of a run says which programs are missing, how many tests were skipped for them, and how to
install them. With KCLI_BARE=1 none of them counts as installed.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PACKAGES = {
    "fish": "fish", "gcc": "gcc", "go": "golang-go", "java": "openjdk-17-jdk-headless",
    "javac": "openjdk-17-jdk-headless", "jq": "jq", "kadmin.local": "krb5-admin-server", "kcat": "kcat",
    "kdb5_util": "krb5-kdc", "krb5kdc": "krb5-kdc", "man": "man-db", "mandoc": "mandoc", "mvn": "maven",
    "node": "nodejs", "npm": "npm", "openssl": "openssl", "tmux": "tmux", "zsh": "zsh",
}  # fmt: skip
"""Every optional program, and the Debian package that has it."""
KAFKA = ("java", "mvn")
APICURIO = ("java", "mvn")
FOLDERS = {
    "tests/kafka/": KAFKA,
    "tests/pipeline/jobs/lake/test_drained.py": KAFKA, "tests/pipeline/jobs/lake/test_stored_checkpoint.py": KAFKA,
    "tests/pipeline/jobs/test_openlineage.py": KAFKA, "tests/pipeline/source/test_oracle.py": KAFKA,
}  # fmt: skip
"""Folders, and files, whose tests all need these programs."""
FIXTURES = {
    "kafka": KAFKA, "kafka3": KAFKA, "_three_nodes": KAFKA, "apicurio": APICURIO, "srfake": ("go",),
    "secured": APICURIO, "mutual": ("go",), "rest_catalog": KAFKA,
}  # fmt: skip
BARE = bool(os.environ.get("KCLI_BARE"))


@cache
def path_of(program: str) -> str | None:
    """Where an optional program is installed, or None."""
    return None if BARE else shutil.which(program, path=f"{_installed()}:/usr/sbin:/sbin")


@cache
def _installed() -> str:
    """The PATH of the whole run, before any test changes it."""
    return os.environ["PATH"]


@cache
def _links() -> Path:
    """A folder of links for this process: `bare` has all programs but the optional ones."""
    folder = Path(tempfile.mkdtemp(prefix="kcli-programs-"))
    bare = folder / "bare"
    bare.mkdir()
    for place in _installed().split(os.pathsep):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            if program.name not in PACKAGES and not (bare / program.name).is_symlink():
                (bare / program.name).symlink_to(program)
    return folder


@cache
def path_with(programs: tuple[str, ...]) -> str:
    """A PATH on which these optional programs are, and no others."""
    seen = [str(_links() / "bare")]
    for program in programs:
        where, link = path_of(program), _links() / f"with-{program}" / program
        if where is not None:
            link.parent.mkdir(exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(where)
            seen.append(str(link.parent))
    return os.pathsep.join(seen)


def needed_by(item: pytest.Item) -> set[str]:
    """The programs without which a test is skipped: of its marks, folder, fixtures, and parameters that name one."""
    found = {program for marker in item.iter_markers("needs") for program in marker.args}
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    for name in (*getattr(item, "fixturenames", ()), *(each for each in parameters if isinstance(each, str))):
        found.update(FIXTURES.get(name, ()))
    for folder, programs in FOLDERS.items():
        if item.nodeid.startswith(folder):
            found.update(programs)
    return found


def _seen_by(item: pytest.Item) -> tuple[str, ...]:
    found = needed_by(item)
    if item.get_closest_marker("spark") is not None:
        found.update(KAFKA)  # without them, Spark runs on the Java of a Python package, and without Kafka's connector
    unknown = found - PACKAGES.keys()
    assert not unknown, f"{item.nodeid} names {', '.join(unknown)}, which tests/needs.py does not list"
    return tuple(sorted(found))


class Programs:
    """Skips the tests whose programs are missing, and sets the PATH of all others."""

    def pytest_configure(self) -> None:
        if BARE:
            os.environ["PATH"] = path_with(())

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        shutil.rmtree(_links(), ignore_errors=True)
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            missing = [_missing(report) for report in reporter.stats.get("skipped", []) if _missing(report)]
            if missing:
                reporter.write_line(summary(missing), yellow=True)

    @pytest.hookimpl(tryfirst=True)  # before `-m needs` selects
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            needed = sorted(needed_by(item))
            if needed and item.get_closest_marker("needs") is None:
                item.add_marker(pytest.mark.needs(*needed))
            missing = [program for program in needed if path_of(program) is None]
            if missing:
                item.add_marker(pytest.mark.skip(reason=f"not installed: {', '.join(missing)}"))
                item.user_properties += [("missing", program) for program in missing]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            seen = _seen_by(item)
            patch.setenv("PATH", path_with(seen))
            if "java" not in seen:
                patch.delenv("JAVA_HOME", raising=False)
            return (yield)


def _missing(report: Any) -> list[str]:
    return [value for name, value in getattr(report, "user_properties", ()) if name == "missing"]


def summary(missing: list[list[str]]) -> str:
    """The last line of a run: the programs that each skipped test misses, and how to install them."""
    programs = sorted({program for each in missing for program in each})
    packages = " ".join(sorted({PACKAGES[program] for program in programs}))
    skipped = "1 comparison was" if len(missing) == 1 else f"{len(missing)} comparisons were"
    return f"Not installed: {', '.join(programs)}. {skipped} skipped. To add: apt-get install {packages}"
