"""A pipeline to be killed: one topic into parquet files, into a topic at least once, into a topic exactly once.

    python -m tests.pipeline.killed BOOTSTRAP SOURCE FOLDER PLAIN ONCE endless|finish

It goes on where its checkpoints say, and prints `running` when its queries are started. `finish` reads what is there
and ends.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from kcli.pipeline.connection import sealed_of
from kcli.pipeline.log import Log
from kcli.pipeline.offset_options import to_json
from kcli.pipeline.options import read_options
from kcli.pipeline.session.session import Session, SessionSettings
from kcli.pipeline.sink.exactly_once import provenance
from kcli.pipeline.sink.positions import begin

NAME = "killed"
BATCH = 4000


def source_options(bootstrap: str, topic: str) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": bootstrap, "subscribe": topic, "startingOffsets": "earliest",
        "kafka.isolation.level": "read_committed", "maxOffsetsPerTrigger": str(BATCH),
    }  # fmt: skip


def started_at(options: dict[str, str], target: str, checkpoint: Path) -> dict[str, str]:
    """The options of a copy's source: it begins where its positions say."""
    import json

    with Log(sealed_of(options)) as log:
        ats = log.partitions(read_options(options, streaming=True))
        topics = {at.topic: target for at in ats}
        known = (checkpoint / "offsets" / "0").exists()
        starts = begin(log, NAME, log.earliest(ats), log.latest(ats), targets=topics, resumed=known)
    return {**options, "startingOffsets": json.dumps(to_json(starts))}


def main(bootstrap: str, topic: str, folder: Path, plain: str, once: str, mode: str) -> None:
    options = source_options(bootstrap, topic)
    conf = (("spark.sql.shuffle.partitions", "2"), ("spark.sql.streaming.fileSink.log.compactInterval", "5"))
    log = folder / "spark.log"
    settings = SessionSettings(master="local[2,3]", name=NAME, quick=True, conf=conf, memory="1g", log=log)
    trigger = {"availableNow": True} if mode == "finish" else {"processingTime": "0 seconds"}
    if mode == "finish":
        del options["maxOffsetsPerTrigger"]
    copied = started_at(options, once, folder / "check-once")
    with Session(settings) as spark:
        frame = spark.readStream.format("kcli").options(**options).load()
        sink = {"kafka.bootstrap.servers": bootstrap}
        own = provenance(spark.readStream.format("kcli").options(**copied).load())
        columns = ("key", "value", "partition", "sourceTopic", "sourcePartition", "sourceOffset")
        writers = [
            frame.writeStream.format("parquet").option("path", str(folder / "files")),
            frame.select("key", "value", "partition").writeStream.format("kcli").options(**sink, topic=plain),
            own.select(*columns).writeStream.format("kcli").options(**sink, topic=once, exactlyOnce=NAME),
        ]
        writers = dict(zip(("files", "plain", "once"), writers, strict=True))
        queries = []
        # Spark keeps one map of the environment for all queries of a source, fills it when the first of them reads and
        # writes, and fails to serialize another's tasks just then ("Illegal size 5 of collection, expected 6")
        for name in ("plain", "files", "once"):
            writer = writers[name].option("checkpointLocation", str(folder / f"check-{name}")).trigger(**trigger)
            queries.append(writer.start())
            while name == "plain" and queries[0].isActive and queries[0].lastProgress is None:
                time.sleep(0.05)
        print("running", flush=True)
        if mode != "finish":
            spark.streams.awaitAnyTermination()  # raises what ended it: no query goes on without the others
        for query in queries:
            query.awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), *sys.argv[4:])
