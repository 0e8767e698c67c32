"""A driver on a standalone cluster, with an archive of its own: a batch into parquet, then a stream into a topic.
Prints from where executors have kcli, if they have what is in the archive too.

python -m tests.pipeline.on_cluster MASTER BOOTSTRAP SOURCE TARGET FOLDER
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

from kcli.pipeline.session.session import Session, SessionSettings

EACH = 10_000
"""Records of a task."""


def main(master: str, bootstrap: str, topic: str, target: str, folder: Path) -> None:
    with zipfile.ZipFile(folder / "own.zip", "w") as out:
        out.writestr("own_module.py", "")
    conf = (
        ("spark.archives", f"{folder / 'own.zip'}#own"), ("spark.executorEnv.PYTHONPATH", "./own"),
        ("spark.driver.host", "127.0.0.1"), ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.executor.memory", "600m"), ("spark.executor.cores", "1"), ("spark.sql.shuffle.partitions", "2"),
        ("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1"),
    )  # fmt: skip
    settings = SessionSettings(master=master, quick=True, memory="1g", conf=conf, log=folder / "spark.log")
    source = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic, "startingOffsets": "earliest"}
    with Session(settings) as spark:
        frame = spark.read.format("kcli").options(**source, maxRecordsPerPartition=str(EACH)).load()
        frame.write.parquet(str(folder / "out"))
        code = (
            spark.sparkContext.parallelize(range(4), 4)
            .map(lambda _: __import__("own_module") and __import__("kcli").__file__)
            .distinct()
            .collect()
        )
        stream = spark.readStream.format("kcli").options(**source).load().select("key", "value", "partition")
        sink = stream.writeStream.format("kcli").option("kafka.bootstrap.servers", bootstrap).option("topic", target)
        query = sink.option("checkpointLocation", str(folder / "c")).trigger(availableNow=True).start()
        query.awaitTermination()
    print("\n".join(code))


if __name__ == "__main__":
    main(*sys.argv[1:5], Path(sys.argv[5]))
