"""kcli: a command line, a dashboard and a data pipeline for Apache Kafka on one wire-protocol client."""

from kcli.version import __version__ as __version__
