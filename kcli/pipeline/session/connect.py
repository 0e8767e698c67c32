"""A Spark Connect session with the interface of `Session`. kcli has to be installed on the server, too, whose Python
reads and writes topics."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kcli.errors import OPTION, ConnectError, UsageError
from kcli.pipeline.session.gateway import log_file
from kcli.pipeline.session.session import SessionSettings, check_pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MODE = "SPARK_CONNECT_MODE_ENABLED"
OURS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
"""Settings of our sessions, for another server."""


class ConnectSession:
    """Call `start` and `stop`; `log` has the client's output. Raises UsageError if the client's packages are missing,
    ConnectError if `url` does not respond."""

    def __init__(self, url: str, settings: SessionSettings) -> None:
        self.url = url
        self.settings = settings
        self.log = settings.log or log_file()
        self._spark: SparkSession | None = None
        self._mode: str | None = None

    def start(self) -> SparkSession:
        """The session."""
        check_pyspark()
        self.log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            from pyspark.sql.connect.session import SparkSession as Remote
        except ImportError as problem:
            raise UsageError(
                f'remote requires the Spark Connect client: pip install "pyspark[connect]" ({problem})'
            ).hinted(OPTION) from None
        # pyspark.sql.functions use it to determine their kind
        self._mode, os.environ[MODE] = os.environ.get(MODE), "1"
        builder = Remote.builder.remote(self.url).appName(self.settings.name)
        for key, value in {**OURS, **dict(self.settings.conf)}.items():
            builder = builder.config(key, value)
        try:
            session = builder.getOrCreate()
            session.version  # noqa: B018  # the first thing that is asked of the server
        except Exception as problem:
            raise ConnectError(f"no Spark Connect server responds at {self.url}; the log is {self.log}") from problem
        self._spark = session  # type: ignore[assignment]
        return session  # type: ignore[return-value]

    def stop(self) -> None:
        """End the session. A second call does nothing."""
        spark, self._spark = self._spark, None
        if spark is not None:
            spark.stop()
        if self._mode is None:
            os.environ.pop(MODE, None)

    def kill(self) -> None:
        """Do nothing: nothing runs here."""
