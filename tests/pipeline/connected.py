"""A client of a Spark Connect server: a batch, SQL over a view, a stream. Prints what it saw as JSON.

python -m tests.pipeline.connected REMOTE BOOTSTRAP SOURCE TARGET FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def main(remote: str, bootstrap: str, topic: str, target: str, folder: Path) -> None:
    spark = SparkSession.builder.remote(remote).getOrCreate()
    source = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic, "startingOffsets": "earliest"}
    frame = spark.read.format("kcli").options(**source).load()
    rows = frame.count()
    spark.sql(
        "CREATE TEMPORARY VIEW records USING kcli OPTIONS "
        f"(`kafka.bootstrap.servers` '{bootstrap}', subscribe '{topic}', valueFormat 'string')"
    )
    most = spark.sql("SELECT max(CAST(value AS INT)) AS most FROM records").collect()[0].most
    frame.select("key", "value", "partition").write.format("kcli").mode("append").options(
        **{"kafka.bootstrap.servers": bootstrap, "topic": target}
    ).save()
    stream = spark.readStream.format("kcli").options(**source, maxOffsetsPerTrigger="1500").load()
    sink = stream.writeStream.format("parquet").option("path", str(folder / "out"))
    query = sink.option("checkpointLocation", str(folder / "c")).trigger(availableNow=True).start()
    query.awaitTermination()
    streamed = spark.read.parquet(str(folder / "out")).select("partition", "offset").distinct().count()
    print(json.dumps({"rows": rows, "most": most, "streamed": streamed}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:5], Path(sys.argv[5]))
