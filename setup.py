"""The compiled record core. Optional: where it cannot be built, its plain-Python twin runs."""

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
        )
    ]
)
