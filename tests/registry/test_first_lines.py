"""The first lines of README.md and docs/schemas.md, which run on the sandbox's registry (tests/test_readme.py,
tests/test_pages.py), against Apicurio's."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.registry.oracles import Apicurio
from tests.test_pages import lines, run_lines
from tests.test_readme import Shell, command_lines, says_of_schemas


@pytest.mark.process
def test_the_first_lines_run_against_apicurio(apicurio: Apicurio, registry: None, tmp_path: Path) -> None:
    page = lines("schemas")
    end = next(number for number, (line, _) in enumerate(page) if line.startswith("unset "))
    assert any(code == 3 for _, code in page[:end])
    apicurio.forget("orders-value")
    with SandboxThread() as sandbox:
        run_lines(page[:end], tmp_path, sandbox.bootstrap, apicurio.url)
    apicurio.forget("orders-value")


@pytest.mark.process
def test_the_readmes_lines_run_against_apicurio(apicurio: Apicurio, registry: None, tmp_path: Path) -> None:
    block = command_lines("Schemas")
    assert block[0] == "export KCLI_SCHEMA_REGISTRY_URL=http://localhost:8081"
    apicurio.forget("shop-value")
    with SandboxThread(topics={"shop": 3}) as sandbox:
        shell = Shell(tmp_path)
        shell.run(f"export KCLI_BOOTSTRAP={sandbox.bootstrap}")
        shell.run(block[0].replace("http://localhost:8081", apicurio.url))
        says_of_schemas({line: shell.run(line) for line in block[1:]})
    apicurio.forget("shop-value")
