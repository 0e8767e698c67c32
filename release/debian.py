"""`python -m release.debian WHEEL FOLDER`: a Debian package for this machine's Debian and its Python.

A virtual environment under /opt/kcli-kafka holds kcli and all it depends on, so the system's Python is not
changed. The command is `kcli-kafka`; `kcli` points to it by update-alternatives, since a tool of libvirt has that name.
`man kcli-kafka`, `man kcli-consume` and, by the alternative, `man kcli`.
"""

from __future__ import annotations

import gzip
import platform
import shutil
import sys
import tempfile
from pathlib import Path

from release.wheels import ROOT, BuildFailed, commit_time, pinned, run

PYTHON = Path("/usr/bin/python3")
HOME = Path("/opt/kcli-kafka")
COMMANDS = ("kcli", "kcli-kafka", "kcli-kcat")
COMPLETIONS = {
    "kcli.bash": ("usr/share/bash-completion/completions", ("kcli", "kcli-kafka")),
    "_kcli": ("usr/share/zsh/vendor-completions", ("_kcli",)),
    "kcli.fish": ("usr/share/fish/vendor_completions.d", ("kcli.fish", "kcli-kafka.fish")),
}
POSTINST = """#!/bin/sh
set -e
if [ "$1" = configure ]; then
    update-alternatives --install /usr/bin/kcli kcli /opt/kcli-kafka/bin/kcli 50 \\
        --slave /usr/share/man/man1/kcli.1.gz kcli.1.gz /usr/share/man/man1/kcli-kafka.1.gz
fi
"""
PRERM = """#!/bin/sh
set -e
if [ "$1" = remove ] || [ "$1" = deconfigure ]; then
    update-alternatives --remove kcli /opt/kcli-kafka/bin/kcli
fi
"""
POSTRM = """#!/bin/sh
set -e
if [ "$1" = remove ] || [ "$1" = purge ]; then
    rm -rf /opt/kcli-kafka
fi
"""
CONTROL = """Package: kcli-kafka
Version: {version}
Architecture: {architecture}
Maintainer: The kcli authors <kcli@example.invalid>
Installed-Size: {kilobytes}
Depends: python3 (>= {python}), python3 (<< {next_python})
Suggests: default-jre-headless
Section: utils
Priority: optional
Description: command line and dashboard for Apache Kafka
 Produce, consume, copy and count records, watch consumer lag, administer topics
 and groups, and run an embedded broker for tests. Speaks Kafka's protocol itself.
"""


def package(wheel: Path, folder: Path) -> Path:
    """The package file. Raises BuildFailed where a step fails, e.g. without dpkg-deb."""
    with tempfile.TemporaryDirectory() as work:
        root = Path(work) / "root"
        version = _environment(root, wheel, Path(work))
        _commands(root)
        _completions(root)
        _manual(root)
        _documents(root)
        _control(root, version)
        target = folder / f"kcli-kafka_{version}_{_architecture()}.deb"
        run("dpkg-deb", "--root-owner-group", "--build", root, target, SOURCE_DATE_EPOCH=commit_time())
    return target


def _environment(root: Path, wheel: Path, work: Path) -> str:
    """The virtual environment with the wheel in it, told to live in /opt; returns kcli's version."""
    home = root / HOME.relative_to("/")
    run(PYTHON, "-m", "venv", "--without-pip", home)
    pip = (sys.executable, "-m", "pip", "--python", home / "bin" / "python3")
    run(*pip, "install", "--quiet", "--no-compile", "--require-hashes", "-r", pinned(wheel, work))
    for origin in home.rglob("direct_url.json"):
        origin.unlink()
    for script in (home / "bin").glob("[aA]ctivate*"):
        script.unlink()
    for path in (home / "pyvenv.cfg", *(path for path in (home / "bin").iterdir() if not path.is_symlink())):
        path.write_text(path.read_text().replace(str(home), str(HOME)))
    run(
        PYTHON, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-s", home, "-p", HOME, home / "lib",
    )  # fmt: skip
    return wheel.name.split("-")[1]


def _commands(root: Path) -> None:
    """`kcli-kafka` and `kcli-kcat` on the PATH; `kcli` comes by update-alternatives."""
    folder = root / "usr/bin"
    folder.mkdir(parents=True)
    for name in COMMANDS[1:]:
        (folder / name).symlink_to(HOME / "bin" / name)


def _completions(root: Path) -> None:
    for source, (place, names) in COMPLETIONS.items():
        folder = root / place
        folder.mkdir(parents=True)
        for name in names:
            shutil.copy(ROOT / "completions" / source, folder / name)


def _manual(root: Path) -> None:
    """The man pages that the wheel brought, compressed, where man looks; `kcli.1` comes by update-alternatives."""
    for page in sorted((root / HOME.relative_to("/") / "share/man").rglob("kcli*.[17]")):
        folder = root / "usr/share/man" / page.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        name = "kcli-kafka.1" if page.name == "kcli.1" else page.name
        _pack(page.read_bytes(), folder / f"{name}.gz")


def _documents(root: Path) -> None:
    folder = root / "usr/share/doc/kcli-kafka"
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "LICENSE", folder / "copyright")
    _pack((ROOT / "CHANGELOG.md").read_bytes(), folder / "changelog.gz")


def _pack(content: bytes, target: Path) -> None:
    with target.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
        packed.write(content)


def _control(root: Path, version: str) -> None:
    folder = root / "DEBIAN"
    folder.mkdir()
    major, minor = run(PYTHON, "-c", "import sys; print(*sys.version_info[:2])").split()
    kilobytes = sum(path.lstat().st_size for path in root.rglob("*")) // 1024
    text = CONTROL.format(
        version=version,
        architecture=_architecture(),
        kilobytes=kilobytes,
        python=f"{major}.{minor}",
        next_python=f"{major}.{int(minor) + 1}",
    )
    (folder / "control").write_text(text)
    for name, script in (("postinst", POSTINST), ("prerm", PRERM), ("postrm", POSTRM)):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)


def _architecture() -> str:
    try:
        return run("dpkg", "--print-architecture").strip()
    except OSError:
        raise BuildFailed(f"no dpkg on {platform.platform()}: build a Debian package on Debian") from None


if __name__ == "__main__":
    try:
        print(package(Path(sys.argv[1]), Path(sys.argv[2])))
    except BuildFailed as error:
        sys.exit(str(error))
