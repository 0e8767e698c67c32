"""The clusters of a parsed configuration of kaf, kafkactl, kcl or rpk, in the words of librdkafka."""

from __future__ import annotations

from typing import Any

from kcli.cli.commands.config.writing.toml import NewProfile
from kcli.values import field

MECHANISMS = {
    "plaintext": "PLAIN", "plain": "PLAIN", "scramsha256": "SCRAM-SHA-256", "scramsha512": "SCRAM-SHA-512",
    "oauth": "OAUTHBEARER", "oauthbearer": "OAUTHBEARER", "awsmskiam": "AWS_MSK_IAM", "gssapi": "GSSAPI",
}  # fmt: skip
"""Without the dashes and underscores that each tool puts elsewhere."""


class ForeignCluster(NewProfile):
    """One cluster of a foreign file, and what could not be taken over."""

    left_out: list[str] = field(factory=list)
    current: bool = False

    def put(self, key: str, value: Any) -> None:
        """A property, unless the file says nothing there."""
        if value is None or value in ("", []):
            return
        self.properties[key] = "true" if value is True else "false" if value is False else str(value)


def _servers(value: Any) -> str:
    """A list, or one text with commas or spaces between: both are read by most of these tools."""
    return ",".join(value.replace(",", " ").split() if isinstance(value, str) else value or ())


def _protocol(cluster: ForeignCluster, tls: bool, sasl: bool) -> None:
    protocol = {(True, True): "SASL_SSL", (True, False): "SSL", (False, True): "SASL_PLAINTEXT"}.get((tls, sasl))
    if protocol:
        cluster.properties = {"security.protocol": protocol, **cluster.properties}


def _mechanism(cluster: ForeignCluster, text: Any, default: str) -> str:
    word = str(text or default)
    mechanism = MECHANISMS.get(word.lower().replace("-", "").replace("_", ""), word.upper())
    cluster.put("sasl.mechanism", mechanism)
    return mechanism


def _tls(cluster: ForeignCluster, tls: dict[str, object], ca: str, certificate: str, key: str, insecure: str) -> None:
    cluster.put("ssl.ca.location", tls.get(ca))
    cluster.put("ssl.certificate.location", tls.get(certificate))
    cluster.put("ssl.key.location", tls.get(key))
    if tls.get(insecure) is True:
        cluster.put("enable.ssl.certificate.verification", False)


def kaf(file: Any) -> list[ForeignCluster]:
    """The clusters of ~/.kaf/config."""
    clusters = []
    for cluster in file.get("clusters") or []:
        profile = ForeignCluster(name=str(cluster["name"]), bootstrap=_servers(cluster.get("brokers")))
        profile.current = cluster["name"] == file.get("current-cluster")
        sasl, tls = cluster.get("SASL") or cluster.get("sasl"), cluster.get("TLS", cluster.get("tls"))
        profile.put("security.protocol", cluster.get("security-protocol"))
        if sasl:
            _mechanism(profile, sasl.get("mechanism"), "PLAIN")
            profile.put("sasl.username", sasl.get("username"))
            profile.put("sasl.password", sasl.get("password"))
            profile.put("sasl.oauthbearer.client.id", sasl.get("clientID") or sasl.get("clientid"))
            profile.put("sasl.oauthbearer.client.secret", sasl.get("clientSecret") or sasl.get("clientsecret"))
            profile.put("sasl.oauthbearer.token.endpoint.url", sasl.get("tokenURL") or sasl.get("tokenurl"))
            profile.put("sasl.oauthbearer.token", sasl.get("token"))
            profile.put("sasl.oauthbearer.scope", " ".join(sasl.get("scopes") or ()))
        if tls:
            _tls(profile, tls, "cafile", "clientfile", "clientkeyfile", "insecure")
        if "security.protocol" not in profile.properties:
            _protocol(profile, tls is not None, bool(sasl))
        profile.left_out += [key for key in cluster if key.startswith("schema-registry") and cluster[key]]
        clusters.append(profile)
    return clusters


def kafkactl(file: Any) -> list[ForeignCluster]:
    """kafkactl's contexts. It takes keys in any case, and writes them itself in small letters."""
    clusters = []
    file = _small(file)
    for name, context in (file.get("contexts") or {}).items():
        cluster = ForeignCluster(name=name, bootstrap=_servers(context.get("brokers")))
        cluster.current = name.lower() == str(file.get("current-context")).lower()
        tls, sasl = context.get("tls") or {}, context.get("sasl") or {}
        if sasl.get("enabled"):
            mechanism = _mechanism(cluster, sasl.get("mechanism"), "PLAIN")
            cluster.put("sasl.username", sasl.get("username"))
            cluster.put("sasl.password", sasl.get("password"))
            if mechanism == "OAUTHBEARER":
                cluster.left_out.append("sasl.tokenprovider (use sasl.oauthbearer.token.command instead)")
        if tls.get("enabled"):
            _tls(cluster, tls, "ca", "cert", "certkey", "insecure")
            cluster.put("ssl.key.password", tls.get("certkeypassphrase"))
        _protocol(cluster, bool(tls.get("enabled")), bool(sasl.get("enabled")))
        cluster.put("client.id", context.get("clientid"))
        cluster.put("max.request.size", (context.get("producer") or {}).get("maxmessagebytes"))
        acks = {"WaitForAll": "all", "WaitForLocal": "1", "NoResponse": "0"}
        cluster.put("acks", acks.get(str((context.get("producer") or {}).get("requiredacks"))))
        levels = {"ReadCommitted": "read_committed", "ReadUncommitted": "read_uncommitted"}
        cluster.put("isolation.level", levels.get(str((context.get("consumer") or {}).get("isolationlevel"))))
        cluster.left_out += [key for key in ("kubernetes", "avro", "schemaregistry", "protobuf") if context.get(key)]
        clusters.append(cluster)
    return clusters


def _small(tree: Any, *, names: bool = False) -> Any:
    """Keys in small letters, but for the names of contexts."""
    if not isinstance(tree, dict):
        return tree
    return {
        (key if names else key.lower()): _small(value, names=key.lower() == "contexts") for key, value in tree.items()
    }


def kcl(file: Any) -> list[ForeignCluster]:
    """kcl's profiles, or the one cluster of a file without any."""
    current = file.get("current_profile")
    tables = dict(file.get("profiles") or {}) or {"": file}
    clusters = []
    for name, table in tables.items():
        cluster = ForeignCluster(
            name=name, bootstrap=_servers(table.get("seed_brokers")), current=bool(name) and name == current
        )
        tls, sasl = table.get("tls"), table.get("sasl") or {}
        if sasl.get("method"):
            _mechanism(cluster, sasl["method"], "PLAIN")
            cluster.put("sasl.username", sasl.get("user"))
            cluster.put("sasl.password", sasl.get("pass"))
            if sasl.get("is_token"):
                cluster.put("sasl.delegation.token", True)
            cluster.left_out += ["sasl.zid"] if sasl.get("zid") else []
        if tls is not None:
            _tls(cluster, tls, "ca_cert_path", "client_cert_path", "client_key_path", "insecure")
            cluster.put("ssl.server.name", tls.get("server_name"))
        _protocol(cluster, tls is not None, bool(sasl.get("method")))
        cluster.left_out += [key for key in ("schema_registry",) if table.get(key)]
        clusters.append(cluster)
    return clusters


def rpk(file: Any) -> list[ForeignCluster]:
    """rpk's profiles."""
    clusters = []
    for profile in file.get("profiles") or []:
        api = profile.get("kafka_api") or {}
        cluster = ForeignCluster(name=str(profile["name"]), bootstrap=_servers(api.get("brokers")))
        cluster.current = profile["name"] == file.get("current_profile")
        tls, sasl = api.get("tls"), api.get("sasl") or {}
        if sasl.get("user") or sasl.get("mechanism") or sasl.get("type"):
            _mechanism(cluster, sasl.get("mechanism") or sasl.get("type"), "SCRAM-SHA-256")
            cluster.put("sasl.username", sasl.get("user"))
            cluster.put("sasl.password", sasl.get("password"))
        secured = tls is not None and tls.get("enabled") is not False
        if tls is not None and secured:
            _tls(cluster, {"ca_file": tls.get("truststore_file"), **tls}, "ca_file", "cert_file", "key_file",
                 "insecure_skip_verify")  # fmt: skip
        _protocol(cluster, secured, "sasl.mechanism" in cluster.properties)
        cluster.left_out += [key for key in ("admin_api", "schema_registry", "cloud_cluster") if profile.get(key)]
        clusters.append(cluster)
    return clusters
