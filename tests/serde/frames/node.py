"""Confluent's own client for Node, fetched once into a cache outside the tree. The clients of AWS, Azure, Google and
Vault that it asks for keys are not: they are nine tenths of the download, and its serializers do not need them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.registry.oracles import moved, root

SOURCE = Path(__file__).with_name("confluent_js")
PACKAGES = ("package.json", "package-lock.json")
INSTALL = ["npm", "ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"]


def modules() -> Path:
    """Other packages are another folder."""
    digest = hashlib.sha256(b"".join((SOURCE / name).read_bytes() for name in PACKAGES)).hexdigest()
    return root() / f"confluent-js-{digest[:12]}"


def fetched() -> Path:
    """The folder with the modules. Raises CalledProcessError when npm fails."""
    folder = modules()
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    for name in PACKAGES:
        shutil.copy(SOURCE / name, fresh)
    subprocess.run(INSTALL, check=True, timeout=600, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=fresh)
    return moved(fresh, folder)


def serdes(*words: str, lines: list[Any] | None = None) -> list[Any]:
    """What `serdes.cjs` prints: a value a line."""
    environment = {**os.environ, "NODE_PATH": str(fetched() / "node_modules")}
    text = "\n".join(json.dumps(line) for line in lines or ())
    done = subprocess.run(
        ["node", str(SOURCE / "serdes.cjs"), *words],
        input=text, capture_output=True, text=True, timeout=120, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]
