"""The software bill of materials: what a bundle of the wheel has, in CycloneDX's JSON."""

from __future__ import annotations

import sys
from pathlib import Path

from release.wheels import pinned, run


def sbom(wheel: Path, target: Path, work: Path) -> Path:
    """Install the wheel into an empty environment and list what is there, without times and random serial numbers."""
    environment = work / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--require-hashes",
        "-r",
        pinned(wheel, work),
    )
    for origin in environment.rglob("direct_url.json"):
        origin.unlink()  # the folder of this build is no part of what the wheel depends on
    written = target / "kcli-kafka.cdx.json"
    run(
        sys.executable, "-m", "cyclonedx_py", "environment",
        "--output-reproducible", "--output-format", "JSON", "--output-file", written, python,
    )  # fmt: skip
    return written
