"""Tables in an object store that speaks S3 (moto's server): Iceberg and Delta, and what is said of a wrong bucket or
wrong credentials."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli.cli.main import main
from kcli.errors import KcliError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.pipeline.topics import Topics

pytest.importorskip("moto.server", reason="pip install --group dev")
pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")
pytest.importorskip("pyiceberg", reason="pip install 'kcli-kafka[iceberg]'")
ROOT = Path(__file__).parents[4]


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a store whose bucket `lake` is there, in this process's environment."""
    from pyarrow import fs

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # a process of its own: deltalake keeps Python's lock while it waits for an answer
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    _wait(port)
    for name, value in (
        ("AWS_ENDPOINT_URL", url), ("AWS_REGION", "us-east-1"), ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_EC2_METADATA_DISABLED", "true"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    fs.S3FileSystem(endpoint_override=url, allow_bucket_creation=True).create_dir("lake")
    yield url
    server.kill()
    server.wait(10)


def _wait(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline, "the store does not listen"
            time.sleep(0.1)


def _post(url: str, body: bytes = b"") -> None:
    with urllib.request.urlopen(
        urllib.request.Request(url, data=body, headers={"Content-Type": "text/plain"}), timeout=20
    ) as answer:
        answer.read()


@pytest.mark.process
def test_a_bucket_that_is_missing_and_credentials_that_are_refused_are_one_sentence_each(bucket: str) -> None:
    from kcli.pipeline.sink.storage import storage_here

    storage_here().check("s3://lake/tables")
    with pytest.raises(KcliError, match="the bucket other does not exist"):
        storage_here().check("s3://other/tables")
    _post(f"{bucket}/moto-api/reset-auth", b"0")
    try:
        with pytest.raises(KcliError, match="the store rejected the credentials, which come from AWS_ACCESS"):
            storage_here().check("s3://lake/tables")
    finally:
        _post(f"{bucket}/moto-api/reset-auth", b"100000000")


@pytest.mark.process
def test_a_dry_run_asks_the_store(
    bucket: str, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", topics.bootstrap)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.chdir(tmp_path)
    line = ["pipeline", "export", topics.make(1), "--file-format", "delta", "--dry-run"]
    assert main([*line, "s3a://lake/orders"]) == 0
    assert main([*line, "s3a://other/orders"]) == 1
    assert "s3://other/orders: the bucket other does not exist" in capfd.readouterr().err
    assert main([*line, "gs://lake/orders"]) == 2
    assert "a table needs a folder on this machine, or s3://" in capfd.readouterr().err
    line = ["pipeline", "export", topics.make(1), "raw.orders", "--file-format", "iceberg", "--dry-run"]
    assert main([*line, "--warehouse", "s3://other/tables"]) == 1
    assert "s3://other/tables: the bucket other does not exist" in capfd.readouterr().err


def export(topics: Topics, folder: Path, *words: str) -> None:
    """A command line in a process of its own: its tasks have the environment of this test."""
    own = {
        "KCLI_BOOTSTRAP": topics.bootstrap, "XDG_DATA_HOME": str(folder / "share"),
        "XDG_STATE_HOME": str(folder / "state"), "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    line = [sys.executable, "-m", "kcli", "pipeline", "export", *words]
    done = subprocess.run(
        line, cwd=folder, env={**os.environ, **own}, timeout=280, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def rows_of(table: Any) -> list[int]:
    return sorted(table.column("offset").to_pylist())


@pytest.mark.spark
@pytest.mark.process
@pytest.mark.timeout(1000)
@pytest.mark.long
def test_both_kinds_of_tables_are_written_and_followed(bucket: str, topics: Topics, tmp_path: Path) -> None:
    import deltalake

    from kcli.pipeline.jobs.lake.catalogs import CatalogPlace
    from kcli.pipeline.sink.storage import delta_options

    topic = topics.make(1)
    topics.values(topic, 10)
    delta = [topic, "s3a://lake/orders", "--file-format", "delta", "--once", "--select", "offset, timestamp"]
    iceberg = [topic, "raw.orders", "--file-format", "iceberg", "--warehouse", "s3://lake/tables", "--once"]
    for _ in range(2):
        export(topics, tmp_path, *delta)
        export(topics, tmp_path, *iceberg)
        topics.values(topic, 5)
    table = deltalake.DeltaTable("s3://lake/orders", storage_options=delta_options())
    assert table.version() == 1
    assert rows_of(table.to_pyarrow_table()) == list(range(15))
    (database,) = (tmp_path / "share/kcli/iceberg").glob("*.db")
    place = CatalogPlace(warehouse="s3://lake/tables")
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
        assert place.database == database
        assert rows_of(place.opened().load_table("raw.orders").scan().to_arrow()) == list(range(15))
