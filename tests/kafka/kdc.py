"""A Kerberos KDC on loopback, of Debian's krb5-kdc: for one test session, in a folder of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

from tests.ports import free_port

REALM = "KCLI.TEST"


class Kdc:
    """`principals` are made with keys in `keytab(name)`; `environment` is what a client of it wants."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.config = folder / "krb5.conf"
        self.config.write_text(
            f"[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n dns_lookup_realm = false\n"
            " rdns = false\n dns_canonicalize_hostname = false\n udp_preference_limit = 1\n"
            f"[realms]\n {REALM} = {{\n  kdc = 127.0.0.1:{self.port}\n }}\n"
            f"[domain_realm]\n localhost = {REALM}\n"
        )
        (folder / "kdc.conf").write_text(
            f"[kdcdefaults]\n kdc_ports = {self.port}\n kdc_tcp_ports = {self.port}\n"
            f" kdc_listen = 127.0.0.1:{self.port}\n"
            f" kdc_tcp_listen = 127.0.0.1:{self.port}\n"
            f"[realms]\n {REALM} = {{\n  database_name = {folder}/principal\n  key_stash_file = {folder}/stash\n"
            f"  acl_file = {folder}/acl\n  supported_enctypes = aes256-cts:normal\n }}\n"
        )
        self.environment = {"KRB5_CONFIG": str(self.config), "KRB5CCNAME": f"FILE:{folder}/ccache"}
        self._own = {**os.environ, **self.environment, "KRB5_KDC_PROFILE": str(folder / "kdc.conf")}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
        self._process = subprocess.Popen(
            ["krb5kdc", "-n", "-r", REALM], env=self._own, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise
                time.sleep(0.05)

    def keytab(self, principal: str) -> Path:
        """A principal, and the file with its key."""
        path = self.folder / f"{principal.replace('/', '_')}.keytab"
        self._run("kadmin.local", "-r", REALM, "addprinc", "-randkey", f"{principal}@{REALM}")
        self._run("kadmin.local", "-r", REALM, "ktadd", "-k", str(path), f"{principal}@{REALM}")
        return path

    def _run(self, name: str, *words: str) -> None:
        done = subprocess.run([name, *words], env=self._own, capture_output=True, text=True, timeout=30, check=False)
        if done.returncode:
            raise RuntimeError(f"{name} failed: {done.stdout}{done.stderr}")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
