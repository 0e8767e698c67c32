"""The first lines of docs/schemas.md, which run on the sandbox's registry (tests/test_pages.py), against Apicurio's."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.registry.oracles import Apicurio
from tests.test_pages import lines, run_lines


@pytest.mark.process
def test_the_first_lines_run_against_apicurio(apicurio: Apicurio, registry: None, tmp_path: Path) -> None:
    page = lines("schemas")
    end = next(number for number, (line, _) in enumerate(page) if line.startswith("unset "))
    assert any(code == 3 for _, code in page[:end])
    apicurio.forget("orders-value")
    with SandboxThread() as sandbox:
        run_lines(page[:end], tmp_path, sandbox.bootstrap, apicurio.url)
    apicurio.forget("orders-value")
