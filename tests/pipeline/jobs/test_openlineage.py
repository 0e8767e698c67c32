"""OpenLineage's listener for Spark beside a pipeline: the docs' line, with a file in the place of a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.kafka import artifacts

if TYPE_CHECKING:
    from tests.pipeline.topics import Topics

ROOT = Path(__file__).parents[3]
POM = ROOT / "tests" / "pipeline" / "openlineage.pom.xml"
LISTENER = "io.openlineage.spark.agent.OpenLineageSparkListener"


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.process
@pytest.mark.timeout(400)
def test_the_listener_says_what_was_written_and_no_input(topics: Topics, tmp_path: Path) -> None:
    topic = topics.make(1)
    topics.values(topic, 300)
    (jar,) = artifacts.libs(POM, "openlineage").glob("openlineage-spark_2.13-*.jar")
    events = tmp_path / "lineage.ndjson"
    conf = {
        "spark.jars": str(jar), "spark.extraListeners": LISTENER, "spark.openlineage.transport.type": "file",
        "spark.openlineage.transport.location": str(events), "spark.openlineage.namespace": "lake",
    }  # fmt: skip
    line = [sys.executable, "-m", "kcli", "pipeline", "export", topic, "out", "-q"]
    line += [word for name, text in conf.items() for word in ("--conf", f"{name}={text}")]
    own = {"KCLI_BOOTSTRAP": topics.bootstrap, "XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONPATH": str(ROOT)}
    environment = {**os.environ, **own, "XDG_DATA_HOME": str(tmp_path / "share")}
    subprocess.run(line, cwd=tmp_path, env=environment, timeout=280, check=True)
    seen = [json.loads(text) for text in events.read_text().splitlines()]
    assert {"START", "COMPLETE"} <= {event["eventType"] for event in seen}
    assert {event["job"]["namespace"] for event in seen} == {"lake"}
    written = [one for event in seen for one in event["outputs"]]
    assert all(one["name"].startswith(f"{tmp_path}/.out.part-") for one in written), (
        "where a batch is until it is whole"
    )
    assert written[-1]["outputFacets"]["outputStatistics"]["rowCount"] == 300
    assert not any(event["inputs"] for event in seen), "the listener knows Python data sources now: say so in the docs"
