"""The states of a group, in Kafka's words. Share groups and KIP-848 groups have some of them too."""

from __future__ import annotations

EMPTY, PREPARING, COMPLETING, STABLE, DEAD = "Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"
