"""A REST catalog of Iceberg as a process: the server of Iceberg's own tests, over SQLite. In front of it a `Relay` that
a test sees the requests by, and that loses answers."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tests.kafka import artifacts

POM = Path(__file__).with_name("pom.xml")
NAME = "iceberg-rest"
MAIN = "org.apache.iceberg.rest.RESTCatalogServer"
PATIENCE = 120


class RestCatalog:
    """`start`, then tables are at `url`, with their files in `warehouse`."""

    def __init__(self, folder: Path) -> None:
        self.warehouse = folder / "rest"
        self._log = folder / "rest.log"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    def start(self) -> RestCatalog:
        import pyspark

        self.warehouse.mkdir()
        hadoop = sorted((Path(pyspark.__file__).parent / "jars").glob("hadoop-client-*.jar"))
        jars = ":".join([f"{artifacts.libs(POM, NAME)}/*", *map(str, hadoop)])
        own = {
            "CATALOG_WAREHOUSE": f"file://{self.warehouse}",
            "CATALOG_URI": f"jdbc:sqlite:{self.warehouse}/rest.db",
            "CATALOG_REST_PORT": str(self._port),
        }
        java = shutil.which("java")
        assert java is not None
        words = [java, "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", jars, MAIN]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(words, env={**os.environ, **own}, stdout=log, stderr=log)
        self._wait()
        return self

    def _wait(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/v1/config", timeout=10).close()
                return
            except OSError:
                assert self._process.poll() is None, self._log.read_text()
                assert time.monotonic() < deadline, self._log.read_text()
                time.sleep(0.2)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait(10)


class Relay:
    """Passes requests on to a catalog, at `url`. `seen` has method, path and the Authorization of each; the answers of
    the paths in `lost` are replaced by 502, after the catalog did what it was asked; `wants` is the only token that is
    let through."""

    def __init__(self, behind: str) -> None:
        self.seen: list[tuple[str, str, str]] = []
        self.lost: set[str] = set()
        self.wants = ""
        relay = self

        class Handler(BaseHTTPRequestHandler):
            def _pass(self) -> None:
                status, body = relay._asked(self, behind)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body if self.command != "HEAD" else b"")

            do_GET = do_HEAD = do_POST = do_DELETE = _pass

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def _asked(self, request: BaseHTTPRequestHandler, behind: str) -> tuple[int, bytes]:
        token = request.headers.get("Authorization", "")
        self.seen.append((request.command, request.path, token))
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        if self.wants and token != f"Bearer {self.wants}":
            return 401, b'{"error": {"message": "no such token", "type": "NotAuthorizedException", "code": 401}}'
        onward = urllib.request.Request(
            behind + request.path,
            data=body or None,
            method=request.command,
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(onward, timeout=30) as answer:
                status, content = answer.status, answer.read()
        except urllib.error.HTTPError as refused:
            status, content = refused.code, refused.read()
        if (request.command, request.path) in {("POST", path) for path in self.lost}:
            return 502, b'{"error": {"message": "no answer", "type": "BadGateway", "code": 502}}'
        return status, content

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
