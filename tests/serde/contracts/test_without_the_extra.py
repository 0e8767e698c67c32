"""Without cel-python nothing imports `kcli/serde/rules`, and rules are shown and refused all the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
sys.modules["celpy"] = None
from kcli.errors import UsageError
from kcli.schemas import AVRO, Schema, SchemaRefused
from kcli.serde.contracts.writable import conditions_of
from kcli.serde.schemas.readers import reader_of
from kcli.serde.schemas.writers import writer_of

def schema(mode, type="CEL", kind="CONDITION"):
    rule = f'{{"name": "r", "type": "{type}", "mode": "{mode}", "kind": "{kind}", "expr": "true"}}'
    return Schema(subject="t-value", version=1, kind=AVRO, text='"string"', rule_set='{"domainRules": [%s]}' % rule)

written = schema("WRITE")
for work in (
    lambda: writer_of(written, [], conditions=conditions_of(written)),
    lambda: conditions_of(schema("WRITE", "JSONATA")),
    lambda: reader_of()(schema("READ"), []),
    lambda: reader_of()(schema("READ", "JSONATA"), []),
):
    try:
        work()
    except (UsageError, SchemaRefused) as problem:
        print(problem)
assert reader_of(rules=False)(schema("READ"), []).json(b"\\2a") == b'"a"'
assert writer_of(written, [], conditions=conditions_of(written, without=True), framed=False)('"a"') == b"\\2a"
print([name for name in sys.modules if name.startswith("kcli.serde.rules")])
"""


@pytest.mark.process
def test_without_the_extra_nothing_of_it_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    evaluated = "the rule r (CEL) of t-value version 1 is evaluated by cel-python: pip install 'kcli-kafka[rules]'"
    assert done.stdout.splitlines() == [
        evaluated,
        "t-value version 1 has the rule r (JSONATA) for writing, which kcli does not run",
        evaluated,
        "t-value version 1 has the rule r (JSONATA) for reading, which kcli does not run",
        "[]",
    ]
