"""`make asan`: the record core's tests over a compiled core that checks every access to memory (AddressSanitizer).

Python's own allocator is switched off, so that every object is a block of its own. A bytes object still ends with a NUL
that is not ours: test_records_bounds.py gives the readers memory that ends where the data ends. Needs gcc's libasan.
Not part of `make test`: it is slow, and other tests of the suite do not reach the C code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
SUITES = (
    "tests/proto/test_records_bounds.py",
    "tests/proto/test_records_cores.py",
    "tests/proto/test_records_fetched.py",
    "tests/proto/test_batch.py",
    "tests/proto/test_envelopes.py",
    "tests/proto/test_replace_fields.py",
    "tests/serde/avro",
)
FLAGS = "-shared -fPIC -fwrapv -O1 -g -fno-omit-frame-pointer -fsanitize=address"


def main() -> int:
    compiler = os.environ.get("CC", "gcc")
    where = subprocess.run([compiler, "-print-file-name=libasan.so"], check=True, capture_output=True, text=True)
    with TemporaryDirectory() as folder:
        for name in ("kcli", "tests"):
            shutil.copytree(ROOT / name, Path(folder, name), ignore=_built)
        shutil.copy(ROOT / "pyproject.toml", folder)
        proto = Path(folder, "kcli/proto")
        subprocess.run([sys.executable, "-m", "cython", "-3", "_records.pyx"], check=True, cwd=proto)
        made = "_records" + sysconfig.get_config_var("EXT_SUFFIX")
        build = [compiler, "-w", *FLAGS.split(), "-I", sysconfig.get_path("include"), "_records.c", "-o", made]
        subprocess.run(build, check=True, cwd=proto)
        checked = {
            "CI": "1",  # a core that was not built is an error, not a skip
            "LD_PRELOAD": where.stdout.strip(),
            "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        }
        tests = [sys.executable, "-m", "pytest", "-q", "-s", "--timeout", "900", *SUITES, *sys.argv[1:]]
        return subprocess.run(tests, cwd=folder, env={**os.environ, **checked}).returncode


def _built(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__" or name.endswith((".so", "_records.c"))]


if __name__ == "__main__":
    sys.exit(main())
