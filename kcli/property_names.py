"""Names of security properties, and the fields of kcli/security that they set."""

from __future__ import annotations

# property: field of security.Tls
TLS = {
    "ssl.ca.location": "ca",
    "ssl.ca.pem": "ca_pem",
    "ssl.truststore.certificates": "ca_pem",
    "ssl.truststore.location": "truststore",
    "ssl.truststore.type": "truststore_type",
    "ssl.truststore.password": "truststore_password",
    "ssl.certificate.location": "certificate",
    "ssl.certificate.pem": "certificate_pem",
    "ssl.keystore.certificate.chain": "certificate_pem",
    "ssl.key.location": "key",
    "ssl.key.pem": "key_pem",
    "ssl.keystore.key": "key_pem",
    "ssl.key.password": "key_password",
    "ssl.keystore.location": "keystore",
    "ssl.keystore.type": "keystore_type",
    "ssl.keystore.password": "keystore_password",
    "ssl.server.name": "server_name",
    "ssl.endpoint.identification.algorithm": "verify_host",
    "enable.ssl.certificate.verification": "verify",
    "ssl.enabled.protocols": "minimum",
    "ssl.protocol": "minimum",
    "ssl.cipher.suites": "ciphers",
}
# property: field of security.Sasl
SASL = {
    "sasl.mechanism": "mechanism",
    "sasl.mechanisms": "mechanism",
    "sasl.username": "username",
    "sasl.password": "password",
    "sasl.delegation.token": "delegation_token",
    "sasl.scram.max.iterations": "max_iterations",
    "allow.insecure.auth": "allow_insecure",
    "sasl.jaas.config": "",
}
# property: field of security.OAuth
OAUTH = {
    "sasl.oauthbearer.token": "token",
    "sasl.oauthbearer.token.file": "token_file",
    "sasl.oauthbearer.token.command": "token_command",
    "sasl.oauthbearer.token.endpoint.url": "token_endpoint",
    "sasl.oauthbearer.client.id": "client_id",
    "sasl.oauthbearer.client.credentials.client.id": "client_id",
    "sasl.oauthbearer.client.secret": "client_secret",
    "sasl.oauthbearer.client.credentials.client.secret": "client_secret",
    "sasl.oauthbearer.scope": "scope",
    "sasl.oauthbearer.extensions": "extensions",
    "sasl.oauthbearer.method": "",
    "sasl.oauthbearer.grant.type": "grant",
    "sasl.oauthbearer.jwt.retriever.class": "grant",
    "sasl.oauthbearer.config": "",
    "https.ca.location": "ca",
    "sasl.login.read.timeout.ms": "timeout",
    "sasl.login.callback.handler.class": "",
    "sasl.client.callback.handler.class": "",
}
# property: field of security.Assertion; Kafka's names, and two of librdkafka's
ASSERTION = {
    "sasl.oauthbearer.assertion.file": "file",
    "sasl.oauthbearer.assertion.private.key.file": "key_file",
    "sasl.oauthbearer.assertion.private.key.pem": "key_pem",
    "sasl.oauthbearer.assertion.private.key.passphrase": "passphrase",
    "sasl.oauthbearer.assertion.algorithm": "algorithm",
    "sasl.oauthbearer.assertion.template.file": "template_file",
    "sasl.oauthbearer.assertion.jwt.template.file": "template_file",
    "sasl.oauthbearer.assertion.claim.aud": "audience",
    "sasl.oauthbearer.assertion.claim.iss": "issuer",
    "sasl.oauthbearer.assertion.claim.sub": "subject",
    "sasl.oauthbearer.assertion.claim.exp.seconds": "expires",
    "sasl.oauthbearer.assertion.claim.nbf.seconds": "not_before",
    "sasl.oauthbearer.assertion.claim.jti.include": "unique_id",
}
# property: field of security.Kerberos
KERBEROS = {
    "sasl.kerberos.service.name": "service",
    "sasl.kerberos.principal": "principal",
    "sasl.kerberos.keytab": "keytab",
    "sasl.kerberos.hostname": "hostname",
}
# property: field of security.Aws
AWS = {
    "sasl.aws.region": "region",
    "sasl.aws.access.key.id": "access_key",
    "sasl.aws.secret.access.key": "secret_key",
    "sasl.aws.session.token": "session_token",
    "sasl.aws.profile": "profile",
}
