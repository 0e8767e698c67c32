"""`KCLI_*`: what the environment says. KCLI_SASL_PASSWORD is sasl.password; a few names are kcli's own.

A variable that is nearly a property is refused, as a mistyped property is. One that resembles none belongs to another
program: Kubernetes sets KCLI_PORT where a service is called kcli.
"""

from __future__ import annotations

import os

from kcli.errors import UsageError

PREFIX = "KCLI_"
OWN = """
BOOTSTRAP BOOTSTRAP_SERVERS PROFILE CONFIG BROKER_MAP PURE_PYTHON TEST_CACHE BENCH_BOOTSTRAP SEED SCHEDULES QUICK BARE
""".split()


def properties() -> list[tuple[str, str, str]]:
    """(variable, property, text) of each that is a property. Raises UsageError for a mistyped one."""
    names = [name for name in os.environ if name.startswith(PREFIX) and name[len(PREFIX) :] not in OWN]
    if not names:
        return []
    from kcli.config.properties.known import KNOWN
    from kcli.config.properties.names import SECURITY, elsewhere, refusal_of

    found = []
    for name in sorted(names):
        key = name[len(PREFIX) :].lower().replace("_", ".")
        if key in KNOWN or key in SECURITY or elsewhere(key) or refusal_of(key):
            found.append((name, key, os.environ[name]))
            continue
        from kcli.text.suggest import did_you_mean

        ours = [PREFIX + name.upper().replace(".", "_") for name in (*KNOWN, *SECURITY)] + [
            PREFIX + name for name in OWN
        ]
        near = did_you_mean(name, ours, 0.85)
        if near or key.startswith(("sasl.", "ssl.", "security.")):
            raise UsageError(f"{name}: kcli knows no such variable{near}")
    return found
