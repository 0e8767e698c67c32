"""What is compiled: the record core, and the thread that ends a process. Optional: else Python does the same.

`KCLI_BUILD=pure` makes a wheel for every Python and system (`py3-none-any`); `KCLI_BUILD=compiled` fails where nothing
can be compiled, so that no wheel of a release is pure by accident.
"""

import os
import sys
from glob import glob

from setuptools import Extension, setup

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

setup(ext_modules=[] if BUILD == "pure" else [RECORDS] if WINDOWS else [RECORDS, WATCHDOG])
