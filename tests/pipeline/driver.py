"""A driver of Spark that does what the lines of its input say, each JSON, and answers with a line of JSON.

python -m tests.pipeline.driver MASTER BOOTSTRAP FOLDER

{"read": OPTIONS, "select": [EXPRESSIONS]}   the rows, or the error
{"read": OPTIONS, "write": OPTIONS}          the column `value` into a topic
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from kcli.pipeline.errors import told
from kcli.pipeline.session.session import Session, SessionSettings

CONF = (
    ("spark.driver.host", "127.0.0.1"), ("spark.driver.bindAddress", "127.0.0.1"), ("spark.executor.memory", "600m"),
    ("spark.executor.cores", "1"), ("spark.sql.shuffle.partitions", "2"),
    ("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1"),
)  # fmt: skip


def done(spark: SparkSession, bootstrap: str, asked: dict[str, Any]) -> dict[str, Any]:
    kafka = {"kafka.bootstrap.servers": bootstrap}
    try:
        frame = spark.read.format("kcli").options(**kafka, **asked["read"]).load()
        if "write" in asked:
            written = frame.select("value").write.format("kcli").mode("append")
            written.options(**kafka, **asked["write"]).save()
            return {}
        rows = frame.orderBy("partition", "offset").selectExpr(*asked["select"]).collect()
    except Exception as problem:  # noqa: BLE001 the answer says what it was
        error = told(problem)
        return {"error": str(error), "code": error.exit_code}
    return {"type": frame.schema["value"].dataType.simpleString(), "rows": [row.asDict(True) for row in rows]}


def main(master: str, bootstrap: str, folder: Path) -> None:
    settings = SessionSettings(master=master, quick=True, memory="1g", conf=CONF, log=folder / "spark.log")
    with Session(settings) as spark:
        for line in sys.stdin:
            print(json.dumps(done(spark, bootstrap, json.loads(line))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
