"""Registries, each a process of its own: Apicurio's, by Maven, srfake of franz-go, by Go, and the sandbox's.

The first two are fetched once into a cache outside the tree. Apicurio is a registry in earnest, with a dialect; srfake
has what Apicurio has not: GUIDs, modes, `/schemas`. It finds every schema compatible.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Self
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from tests.certificates import Issued
from tests.idp import AUDIENCE, ISSUER, Idp
from tests.ports import free_port

VERSION = "2.6.13.Final"
ARTIFACT = f"io.apicurio:apicurio-registry-app:{VERSION}:tar.gz:all"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
JVM = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx384m", "-Xshare:auto"]
SOURCE = Path(__file__).with_name("srfake")
START_LIMIT = 180.0  # seconds; a virtual machine among many takes more than one minute
OLDEST_GO = (1, 21)


def root() -> Path:
    base = os.environ.get("KCLI_TEST_CACHE") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "kcli-tests"


def jars() -> Path:
    return root() / f"apicurio-{VERSION}"


def binary() -> Path:
    """Another source is another file."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(SOURCE.iterdir()))).hexdigest()
    return root() / f"srfake-{digest[:12]}"


def check_go() -> None:
    """Skip the test where Go is older than franz-go allows."""
    version = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout.strip()
    if tuple(int(part) for part in version.removeprefix("go").split(".")[:2] if part.isdigit()) < OLDEST_GO:
        pytest.skip(f"srfake needs Go {'.'.join(map(str, OLDEST_GO))} or newer; this is {version}")


def fetch_apicurio() -> Path:
    """The folder with the jars. Raises CalledProcessError when Maven fails."""
    folder = jars()
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    subprocess.run(
        ["mvn", "-B", "-q", COPY, f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={fresh}"],
        check=True, timeout=600, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=fresh,
    )  # fmt: skip
    (archive,) = fresh.glob("*.tar.gz")
    shutil.unpack_archive(archive, fresh, filter="data")
    archive.unlink()
    return moved(fresh, folder)


def build_srfake() -> Path:
    path = binary()
    if path.exists():
        return path
    check_go()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        fresh = Path(folder, "srfake")
        subprocess.run(
            ["go", "build", "-o", str(fresh), "."],
            check=True, timeout=600, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=SOURCE,
        )  # fmt: skip
        return moved(fresh, path)


def moved(fresh: Path, place: Path) -> Path:
    try:
        fresh.rename(place)
    except OSError:  # another session was quicker; what it made is as good
        shutil.rmtree(fresh)
    return place


class Oracle:
    """A registry at `url`, from `start` to `stop`. Raises RuntimeError with the end of its log when it does not come
    up."""

    name = ""

    def __init__(self) -> None:
        self.url = ""
        self._folder = Path(tempfile.mkdtemp(prefix="kcli-registry-"))
        self._process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> Self:
        words = self.command()
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._folder)
        until = time.monotonic() + START_LIMIT
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                said = self.log()[-3000:]
                self.stop()
                raise RuntimeError(f"{words[0]} did not come up:\n{said}")
            time.sleep(0.05)
        return self

    def _answers(self) -> bool:
        self.url = self.url or self._said()
        if not self.url:
            return False
        try:
            with urlopen(f"{self.url}/subjects", timeout=5):
                return True
        except URLError as problem:
            return getattr(problem, "code", 0) == 401  # it requires credentials, so it is there
        except TimeoutError:  # it listens, and is still busy with its start
            return False

    def _said(self) -> str:
        """Its address, once it is in the log; "" before."""
        return self.log().partition("\n")[0]

    def forget(self, subject: str) -> None:
        """Delete a subject, for good, and its level: tests share the registry."""
        for path in (f"subjects/{subject}", f"subjects/{subject}?permanent=true", f"config/{subject}"):
            try:
                urlopen(Request(f"{self.url}/{path}", method="DELETE"), timeout=20).close()
            except HTTPError as problem:
                problem.close()
                if problem.code != 404:
                    raise

    def log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
        shutil.rmtree(self._folder)


class Apicurio(Oracle):
    """Its compatibility API, in memory."""

    name = "apicurio"

    path = "/apis/ccompat/v7"

    def command(self) -> list[str]:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}{self.path}"
        (jar,) = fetch_apicurio().glob("*-runner.jar")
        given = {"quarkus.http.host": "127.0.0.1", "quarkus.http.port": str(port), **self.properties()}
        return ["java", *JVM, *(f"-D{name}={value}" for name, value in given.items()), "-jar", str(jar)]

    def properties(self) -> dict[str, str]:
        """Quarkus' and Apicurio's own."""
        return {}


class SecuredApicurio(Apicurio):
    """It takes the tokens of a provider, and logins that the provider knows as a client and its secret; roles are in
    the tokens. `secure` is its address with TLS; whether it wants client certificates is fixed when it is built."""

    def __init__(self, idp: Idp, server: Issued) -> None:
        super().__init__()
        self._idp, self._server = idp, server
        self._port = free_port()
        self.secure = f"https://127.0.0.1:{self._port}{self.path}"

    def properties(self) -> dict[str, str]:
        return {
            "registry.auth.enabled": "true",
            "registry.auth.role-based-authorization": "true",
            "registry.auth.basic-auth-client-credentials.enabled": "true",
            "registry.auth.token.endpoint": self._idp.token_url,
            "quarkus.oidc.auth-server-url": self._idp.url,
            "quarkus.oidc.discovery-enabled": "false",
            "quarkus.oidc.jwks-path": "/jwks",
            "quarkus.oidc.token.issuer": ISSUER,
            "quarkus.oidc.token.audience": AUDIENCE,
            "quarkus.http.ssl-port": str(self._port),
            "quarkus.http.ssl.certificate.files": str(self._server.certificate),
            "quarkus.http.ssl.certificate.key-files": str(self._server.key),
        }


class Srfake(Oracle):
    """`options` are its own: `authorization` is the header that it wants, `certificate`, `key` and `clients` are for
    TLS, `redirect` is where it sends everybody."""

    name = "srfake"

    def __init__(self, **options: str) -> None:
        super().__init__()
        self._words = [f"-{name}={value}" for name, value in options.items()]

    def command(self) -> list[str]:
        return [str(build_srfake()), *self._words]

    def _answers(self) -> bool:
        self.url = self.url or self._said()
        return bool(self.url)  # it listens before it prints


class SandboxRegistry(Oracle):
    """That of `python -m kcli.sandbox --registry`."""

    name = "sandbox"

    def command(self) -> list[str]:
        return [sys.executable, "-m", "kcli.sandbox", "--registry"]

    def _said(self) -> str:
        line, end, _ = self.log().partition("\n")
        return str(json.loads(line)["registry"]) if end else ""
