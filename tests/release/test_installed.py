"""What `make dist` built, installed into empty environments without a compiler: a first minute, the demo, the files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ports import free_port

pytestmark = [pytest.mark.dist, pytest.mark.process]

DIST = Path(__file__).resolve().parents[2] / "dist"
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith(("KCLI_", "PYTHON", "VIRTUAL_ENV"))}


class Installed:
    """An environment of its own with nothing but one wheel and its dependencies; no compiler is on its PATH."""

    def __init__(self, folder: Path, core: str, wheel: Path) -> None:
        self.folder, self.core = folder, core
        home, tools = folder / "environment", folder / "tools"
        tools.mkdir(parents=True)
        for name in ("sh", "env", "cat", "seq", "sleep", "head", "sort"):
            (tools / name).symlink_to(shutil.which(name) or name)
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        self.bin = home / "bin"
        self.environment = {**CLEAN, "PATH": f"{self.bin}:{tools}", "HOME": str(folder)}
        assert shutil.which("cc", path=self.environment["PATH"]) is None
        self.run("python", "-m", "pip", "install", "--quiet", str(wheel), limit=300)

    def run(self, *words: str, limit: float = 60, fails: int = 0) -> str:
        """What a command prints on stdout. Fails the test on another exit code, with stderr."""
        done = subprocess.run(
            words, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=limit
        )
        assert done.returncode == fails, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout


def wheels() -> dict[str, Path]:
    """By the name of the record core that each brings."""
    found = sorted(DIST.glob("*.whl"))
    return {"python" if path.name.endswith("py3-none-any.whl") else "compiled": path for path in found}


@pytest.fixture(scope="module", params=["compiled", "python"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    assert request.param in wheels(), f"no such wheel in {DIST}: run make dist"
    return Installed(tmp_path_factory.mktemp(request.param), request.param, wheels()[request.param])


def test_the_version_names_the_record_core_that_the_wheel_brought(installed: Installed) -> None:
    expected = f"(record core: {installed.core}"
    for command in (["kcli"], ["kcli-kafka"], ["python", "-m", "kcli"]):
        assert expected in installed.run(*command, "--version"), command


def test_the_first_minute_from_the_wheel(installed: Installed) -> None:
    """A sandbox, records in, the same out, and the lag table: with no file of the source tree."""
    port = str(free_port())
    sandbox = subprocess.Popen(
        ["kcli", "sandbox", "--port", port], env=installed.environment, cwd=installed.folder,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert sandbox.stdout
        sandbox.stdout.readline()
        installed.environment["KCLI_BOOTSTRAP"] = f"localhost:{port}"
        installed.run("kcli", "topics", "create", "orders", "-p", "3")
        installed.run("sh", "-c", "seq 1000 | kcli produce orders")
        assert installed.run("sh", "-c", "kcli consume orders -o beginning -e | sort -n") == "".join(
            f"{number}\n" for number in range(1, 1001)
        )
        installed.run("kcli", "consume", "orders", "-g", "billing", "--from-beginning", "-c", "10")
        rows = json.loads(installed.run("kcli", "lag", "-J"))
        assert "billing" in json.dumps(rows)
    finally:
        sandbox.terminate()
        sandbox.communicate(timeout=30)


def test_the_demo_from_the_wheel(installed: Installed) -> None:
    assert "Everything above was checked" in installed.run("kcli", "demo", "--no-dashboard", limit=120)


def test_the_dashboard_finds_its_style_sheet(installed: Installed) -> None:
    code = "import kcli.tui, pathlib; print(*pathlib.Path(kcli.tui.__file__).parent.glob('*.tcss'))"
    assert "dashboard.tcss" in installed.run("python", "-c", code)


def test_a_strangers_types_are_checked_against_ours(installed: Installed) -> None:
    code = "import kcli, pathlib; print((pathlib.Path(kcli.__file__).parent / 'py.typed').exists())"
    assert installed.run("python", "-c", code) == "True\n"


def test_schemas_are_printed_without_the_extras(installed: Installed) -> None:
    assert "topics list\n" in installed.run("kcli", "schema")
    assert "kcli.lag/" in installed.run("kcli", "schema", "lag")


def test_the_man_pages_are_where_man_looks(installed: Installed) -> None:
    """Beside the commands: `man kcli` finds them by the PATH, and pipx and Homebrew link them."""
    manual = installed.bin.parent / "share/man"
    assert (manual / "man1/kcli-consume.1").read_text().startswith('.\\" Made of the declarations')
    assert {"kcli.1", "kcli-groups.1"} <= {path.name for path in (manual / "man1").iterdir()}
    assert (manual / "man7/kcli-offsets.7").exists()


def test_the_completions_are_where_shells_look(installed: Installed) -> None:
    share, ours = installed.bin.parent / "share", Path(__file__).parents[2] / "completions"
    for place, source in (
        ("bash-completion/completions/kcli", "kcli.bash"),
        ("zsh/site-functions/_kcli", "_kcli"),
        ("fish/vendor_completions.d/kcli.fish", "kcli.fish"),
    ):
        assert (share / place).read_bytes() == (ours / source).read_bytes()


@pytest.mark.skipif(not [*DIST.glob("*.deb")], reason="no Debian package: make deb")
def test_man_finds_the_pages_of_the_debian_package(tmp_path: Path) -> None:
    (package,) = DIST.glob("*.deb")
    subprocess.run(["dpkg-deb", "--extract", package, tmp_path], check=True, timeout=300)
    for page in ("kcli-kafka", "kcli-consume", "kcli-offsets"):
        done = subprocess.run(
            ["man", "-M", str(tmp_path / "usr/share/man"), "-w", page], capture_output=True, text=True, timeout=60
        )
        assert done.stdout.rstrip().endswith(".gz"), (page, done.stderr)
    control = subprocess.run(["dpkg-deb", "--info", package, "postinst"], capture_output=True, text=True, check=True)
    assert "--slave /usr/share/man/man1/kcli.1.gz kcli.1.gz /usr/share/man/man1/kcli-kafka.1.gz" in control.stdout


def test_the_sums_are_those_of_the_files() -> None:
    listed = [line.split("  ") for line in (DIST / "SHA256SUMS").read_text().splitlines()]
    assert len(listed) >= 4
    for digest, name in listed:
        assert hashlib.sha256((DIST / name).read_bytes()).hexdigest() == digest, name


def test_the_bill_of_materials_names_what_a_wheel_depends_on() -> None:
    document = json.loads((DIST / "kcli-kafka.cdx.json").read_text())
    names = {component["name"] for component in document["components"]}
    assert {"kcli-kafka", "crc32c", "lz4", "textual", "typer"} <= names
    assert "file:" not in json.dumps(document)
