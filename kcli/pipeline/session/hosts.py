"""By which address tasks reach the driver: its own machine's, unless Spark runs elsewhere."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

LOCAL = "127.0.0.1"


def reached_by(where: str, conf: Mapping[str, str]) -> str:
    """The address of this machine for tasks of the Spark at `where` (a master or a sc:// URL): what spark.driver.host
    says, else the one that packets to that machine leave from; without a name (yarn) that of the host's name."""
    if where.startswith("local"):
        return LOCAL
    given = conf.get("spark.driver.host")
    if given:
        return given
    # spark://one:7077,two:7077 names masters; k8s://https://host:443 has a URL in it
    place = urlsplit("//" + where.rpartition("://")[2].split(",")[0]) if "://" in where else None
    try:
        if place is None or not place.hostname:
            return socket.gethostbyname(socket.gethostname())
        family, kind, protocol, _, address = socket.getaddrinfo(
            place.hostname, place.port or 443, socket.AF_INET, socket.SOCK_DGRAM
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.connect(address)  # sends nothing: it only asks for the route
            found: str = probe.getsockname()[0]
            return found
    except (OSError, ValueError):
        return LOCAL
