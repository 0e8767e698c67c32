"""Creates the kind of membership that group.protocol selects. Imported only by consumers that subscribe."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.consumer.group.group_bridge import Link
    from kcli.consumer.group.session import Session
    from kcli.model import Cluster
    from kcli.settings import ConsumerSettings, GroupSettings


def open_session(
    cluster: Cluster, settings: ConsumerSettings, group: GroupSettings, link: Link, metadata_max_age: float
) -> Session:
    """Create a session that has not joined yet. `metadata_max_age` is in seconds."""
    times = {
        "request_timeout": settings.request_timeout,
        "retry_backoff": settings.retry_backoff,
        "retry_backoff_max": settings.retry_backoff_max,
    }
    if group.protocol == "consumer":
        from kcli.consumer.kip848 import ConsumerGroupSession

        return ConsumerGroupSession(cluster, group, link, link, **times)
    from kcli.consumer.classic.member import GroupSession

    return GroupSession(cluster, group, link, link, metadata_max_age=metadata_max_age, **times)
