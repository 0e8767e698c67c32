"""The version in a separate file, because reading package metadata takes longer than `kcli --version` is allowed to."""

__version__ = "0.1.0"
