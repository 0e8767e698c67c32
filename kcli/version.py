"""The version, in a file of its own: reading package metadata costs more than a whole `kcli --version` may."""

__version__ = "0.1.0"
