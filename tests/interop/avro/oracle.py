"""Avro for Java in a process of its own: it answers a line of JSON with a line of JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from threading import Thread
from typing import Any, Self

from tests.kafka.artifacts import libs

POM = Path(__file__).with_name("pom.xml")
SOURCE = Path(__file__).with_name("Oracle.java")
JVM = ["-XX:+UseSerialGC", "-Xmx256m", "-Xss2m", "-XX:TieredStopAtLevel=1"]


class Oracle:
    """Answers many cases at once."""

    def __enter__(self) -> Self:
        jars = f"{libs(POM, 'avro')}/*"
        self._process = subprocess.Popen(
            ["java", *JVM, "-cp", jars, str(SOURCE)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)

    def answers(self, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What Java says of each: an object, with `error` where it raised."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        sender = Thread(target=self._send, args=[[json.dumps(case) for case in cases]])
        sender.start()
        found = [json.loads(self._process.stdout.readline()) for _ in cases]
        sender.join()
        return found

    def _send(self, lines: list[str]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.writelines(f"{line}\n" for line in lines)
        self._process.stdin.flush()
