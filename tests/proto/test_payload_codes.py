"""The numbers of instructions and faults in the compiled record core are those of the modules that declare them."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

from kcli.proto import avro_code, avro_columns_code, faults, protobuf_code
from tests.each import each

COMPILED = Path("kcli/proto/compiled")


def enums(file: str, prefix: str) -> dict[str, int]:
    """The members of C enums with a prefix, and their numbers."""
    found: dict[str, int] = {}
    for block in re.findall(r"^cdef enum:.*\n((?:    .*\n)+)", (COMPILED / file).read_text(), re.M):
        number = -1
        for name, given in re.findall(r"(\w+)(?: = (-?\d+))?(?:,|\n|  )", re.sub("#.*", "", block)):
            number = int(given) if given else number + 1
            if name.startswith(prefix):
                found[name.removeprefix(prefix)] = number
    return found


@each(
    ("file", "prefix", "module", "count"),
    [
        ("avro.pxi", "A_", avro_code, 30),
        ("avro_columns.pxi", "C_", avro_columns_code, 21),
        ("avro_columns.pxi", "S_", avro_columns_code, 4),
        ("avro_columns.pxi", "L_", avro_columns_code, 8),
        ("payloads.pxi", "F_", faults, len(faults.FAULTS)),
        ("protobuf.pxi", "P_", protobuf_code, 31),
        ("protobuf.pxi", "W_", protobuf_code, 6),
        ("protobuf_show.pxi", "K_", protobuf_code, 9),
    ],
)
def test_both_cores_have_the_same_numbers(file: str, prefix: str, module: ModuleType, count: int) -> None:
    theirs = enums(file, prefix)
    named = {"W_VARINT": "VARINT", "NONE": ""}
    ours = {name: getattr(module, named.get(name, name), 0) for name in theirs}
    assert theirs == ours
    assert len(theirs) == count
