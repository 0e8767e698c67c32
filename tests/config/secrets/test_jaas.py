"""sasl.jaas.config is read and never executed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.config.secrets.login import jaas_fields, parse_jaas
from kcli.errors import UsageError
from kcli.secret import Secret

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def test_the_login_modules_of_kafka_are_known() -> None:
    assert jaas_fields(f'{PLAIN} required username="me" password="a;b=c \\"d\\"";', "x") == {
        "sasl": {"username": "me", "password": Secret('a;b=c "d"')}
    }
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule required"
    token = jaas_fields(f"{scram} username='id' password='hmac' tokenauth='true';", "x")
    assert token["sasl"]["delegation_token"] is True
    oauth = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
    fields = jaas_fields(f'{oauth} clientId="a" clientSecret="b" scope="c" extension_x="y";', "x")["oauth"]
    assert fields == {"client_id": "a", "client_secret": Secret("b"), "scope": "c", "extensions": (("x", "y"),)}
    kerberos = 'com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab="/k" principal="p@R";'
    assert jaas_fields(kerberos, "x") == {"kerberos": {"principal": "p@R", "keytab": "/k"}}
    aws = 'software.amazon.msk.auth.iam.IAMLoginModule required awsProfileName="dev";'
    assert jaas_fields(aws, "x") == {"aws": {"profile": "dev"}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            'com.sun.security.auth.module.JndiLoginModule required user.provider.url="ldap://evil";',
            "unknown login module Jndi",
        ),
        ("org.apache.kafka.common.security.ssl.X required;", "unknown login module"),
        (f'{PLAIN} required password="hunter2"', "semicolon"),
        (f'{PLAIN} required password="hunter2;', "a quotation mark is not closed"),
        (f'{PLAIN} password="hunter2";', "after the login module, one of required"),
        (f'{PLAIN} required password "hunter2";', 'expected name="value"'),
        (f"{PLAIN} required password=;", "password has no value"),
        (f'{PLAIN} required password="hunter2"; {PLAIN} required;', "nothing after"),
        ("", "expected LoginModule"),
        ('"x" required;', "expected LoginModule"),
    ],
)
def test_what_is_no_login_module_of_kafka_is_refused_and_no_value_is_told(text: str, says: str) -> None:
    with pytest.raises(UsageError) as told:
        jaas_fields(text, "here")
    assert says in str(told.value)
    assert "hunter2" not in str(told.value)
    assert "ldap" not in str(told.value)


@given(st.text(max_size=80))
def test_any_text_is_a_module_or_a_sentence(text: str) -> None:
    try:
        module, options = parse_jaas(text, "here")
    except UsageError:
        return
    assert ";" in text
    assert "=" in text or not options
    assert module in text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_password_survives_its_quotation_marks(password: str) -> None:
    quoted = password.replace("\\", "\\\\").replace('"', '\\"')
    assert parse_jaas(f'{PLAIN} required password="{quoted}";', "x") == ("PlainLoginModule", {"password": password})
