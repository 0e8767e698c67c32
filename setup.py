"""What is compiled: the record core, and the thread that ends a process. Optional: else Python does the same. And the
man pages and the table of the command line, which are made here of the declarations of the commands, and completions.

`KCLI_BUILD=pure` makes a wheel for every Python and system (`py3-none-any`); `KCLI_BUILD=compiled` fails where nothing
can be compiled, so that no wheel of a release is pure by accident.
"""

import os
import re
import sys
from collections import defaultdict
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

BUILD = os.environ.get("KCLI_BUILD", "")
if BUILD not in ("", "pure", "compiled"):
    sys.exit(f"KCLI_BUILD is {BUILD!r}: pure or compiled")
# The folder of a build is not part of what is built: two builds of one commit are the same bytes.
WINDOWS = sys.platform == "win32"
FLAGS = [] if WINDOWS else [f"-ffile-prefix-map={os.getcwd()}=.", "-g0"]
SPEED = [] if WINDOWS else ["-O3", "-fwrapv"]

RECORDS = Extension(
    "kcli.proto._records",
    ["kcli/proto/_records.pyx"],
    depends=["kcli/proto/_crc32c.h", *sorted(glob("kcli/proto/compiled/*.pxi"))],
    extra_compile_args=[*SPEED, *FLAGS],
    optional=BUILD != "compiled",
)
WATCHDOG = Extension("kcli._watchdog", ["kcli/_watchdog.c"], extra_compile_args=FLAGS, optional=BUILD != "compiled")


class BuildPy(build_py):
    """With the table of the command line, so that no line has to import Typer."""

    def run(self) -> None:
        super().run()
        from kcli.cli.parsing import make_tables

        if self.editable_mode:
            make_tables.write()
        else:
            make_tables.write(Path(self.build_lib, "kcli/cli/parsing/tables"), installed=True)


def man_pages() -> list[tuple[str, list[str]]]:
    """Where an installation puts the man pages, with their files. SOURCE_DATE_EPOCH dates them."""
    root = Path(__file__).parent
    sys.path.insert(0, str(root))
    from kcli.cli.parsing.help import manual

    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    sections = defaultdict(list)
    for page in manual.write(root / "build/man", int(epoch) if epoch else None):
        sections[f"share/man/man{page.suffix[1:]}"].append(str(page.relative_to(root)))
    return sorted(sections.items())


def completions() -> list[tuple[str, list[str]]]:
    """Where shells look for completions beside a command, below `share`."""
    root = Path(__file__).resolve().parent
    rows = []
    for source, folder, name in (
        ("kcli.bash", "share/bash-completion/completions", "kcli"),
        ("_kcli", "share/zsh/site-functions", "_kcli"),
        ("kcli.fish", "share/fish/vendor_completions.d", "kcli.fish"),
    ):
        made = root / "build/completions" / folder / name
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_bytes((root / "completions" / source).read_bytes())
        rows.append((folder, [str(made.relative_to(root))]))
    return rows


REPOSITORY = os.environ.get("KCLI_REPOSITORY", "").rstrip("/")
"""The address of the repository, as the workflow of a release knows it: https://HOST/OWNER/NAME."""


def readme(version: str) -> str:
    """Return README.md with links and pictures that lead to the repository, for the page of a package index."""
    text = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    if not REPOSITORY:
        return text
    text = re.sub(r"!\[([^]]*)\]\((?!https?:)", rf"![\1]({REPOSITORY}/raw/v{version}/", text)
    return re.sub(r"(?<!!)\[([^]]*)\]\((?!https?:|#)", rf"[\1]({REPOSITORY}/blob/v{version}/", text)


def urls() -> dict[str, str]:
    """Return the addresses that a package index shows."""
    if not REPOSITORY:
        return {}
    return {
        "Documentation": f"{REPOSITORY}/tree/main/docs",
        "Source": REPOSITORY,
        "Issues": f"{REPOSITORY}/issues",
        "Changelog": f"{REPOSITORY}/blob/main/CHANGELOG.md",
    }


(VERSION,) = re.findall(r'__version__ = "(.+)"', Path(__file__).with_name("kcli").joinpath("version.py").read_text())
setup(
    long_description=readme(VERSION),
    long_description_content_type="text/markdown",
    project_urls=urls(),
    cmdclass={"build_py": BuildPy},
    ext_modules=[] if BUILD == "pure" else [RECORDS] if WINDOWS else [RECORDS, WATCHDOG],
    data_files=man_pages() + completions(),
)
