"""`python -m tests.pipeline.jobs.lake.flaky_store PORT SEED`: moto's S3 with a bucket `lake`, of which one request in
five is answered by 503 or 500 while stdin's last line says `flaky`; half of them when it is done. Ends with stdin."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

ANSWERS = {"503 Slow Down": "SlowDown", "500 Internal Server Error": "InternalError"}


class Flaky:
    """moto, in front of which some requests fail."""

    def __init__(self, seed: float) -> None:
        self.flaky = False
        self._chance = random.Random(seed)
        self._moto = DomainDispatcherApplication(create_backend_app)

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        lot = self._chance.random() if self.flaky else 1.0
        if lot < 0.2:
            if lot < 0.1:
                self._moto(environ, lambda *_: None)
            else:
                environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            status, code = self._chance.choice(list(ANSWERS.items()))
            start(status, [("Content-Type", "application/xml")])
            return [f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()]
        answer: Iterable[bytes] = self._moto(environ, start)
        return answer


def main(port: int, seed: float) -> None:
    from pyarrow import fs

    app = Flaky(seed)
    server = make_server("127.0.0.1", port, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{port}"
    fs.S3FileSystem(
        endpoint_override=url, allow_bucket_creation=True, access_key="key", secret_key="secret", region="us-east-1"
    ).create_dir("lake")
    print("ready", flush=True)
    for line in sys.stdin:
        app.flaky = line.strip() == "flaky"
        print(line.strip(), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
