"""What is compiled: the record core, and the thread that ends a process. Optional: else Python does the same."""

from glob import glob

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "kcli.proto._records",
            ["kcli/proto/_records.pyx"],
            depends=["kcli/proto/_crc32c.h", *sorted(glob("kcli/proto/compiled/*.pxi"))],
            extra_compile_args=["-O3", "-fwrapv"],
            optional=True,
        ),
        Extension("kcli._watchdog", ["kcli/_watchdog.c"], optional=True),
    ]
)
