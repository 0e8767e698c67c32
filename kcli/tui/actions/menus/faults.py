"""With the faults and the brokers of a sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kcli.tui.actions.acts import Act

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def of_fault(fault: Mapping[str, Any], inject: Callable[[], object]) -> list[Act]:
    """With a fault of the catalogue; what it needs is asked for."""
    needed = "".join(f" {parameter['name']}=…" for parameter in fault["parameters"] if parameter["needed"])
    return [Act("o", f"Inject {fault['name']} …", f"kcli faults {fault['name']}{needed}", inject, changes=True)]


def of_sandbox_broker(broker: Mapping[str, Any], turn: Callable[[], object]) -> list[Act]:
    """With a broker: kill it, or start it again."""
    word, label = ("kill", "Kill") if broker["alive"] else ("start", "Start")
    return [Act("x", f"{label} broker {broker['id']}", f"kcli faults {word} {broker['id']}", turn, changes=True)]


def clear_faults(clear: Callable[[], object]) -> list[Act]:
    """All that are to happen, whatever row is under the cursor."""
    return [Act("c", "Clear all faults", "kcli faults clear", clear, changes=True)]
