"""A client of a Spark Connect server: Avro of a registry as columns, which are written again by the schema of a file
that the server registers. Prints what it saw as JSON.

python -m tests.pipeline.connected_avro REMOTE BOOTSTRAP REGISTRY SOURCE TARGET FILE
"""

from __future__ import annotations

import json
import sys

from pyspark.sql import SparkSession


def main(remote: str, bootstrap: str, registry: str, topic: str, target: str, file: str) -> None:
    spark = SparkSession.builder.remote(remote).getOrCreate()
    avro = {"kafka.bootstrap.servers": bootstrap, "valueFormat": "avro", "schemaRegistry": registry}
    frame = spark.read.format("kcli").options(**avro, subscribe=topic).load()
    rows = frame.selectExpr("value.id", "value.total").orderBy("id").collect()
    written = frame.select("value").write.format("kcli").mode("append")
    written.options(**avro, topic=target, writerSchema=f"file:{file}", registerSchemas="true").save()
    print(json.dumps({"type": frame.schema["value"].dataType.simpleString(), "rows": [list(row) for row in rows]}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:7])
