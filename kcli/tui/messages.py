"""What the session tells the app, the app its pages, and the pages the app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.errors import KcliError
    from kcli.lag.watch import LagSnapshot
    from kcli.tui.alerts.incidents import Incident
    from kcli.tui.routes import Route
    from kcli.tui.trails import Trails


class Reported(Message):
    """Something that a session tells; `source` is that session, once it is known. What is still queued when another one
    is shown is about another time, or another cluster."""

    source: object | None = None


def posting(source: object, post: Callable[[Message], object]) -> Callable[[Message], object]:
    """As `post`, for a session: its messages say whose they are."""

    def posted(message: Message) -> object:
        if isinstance(message, Reported):
            message.source = source
        return post(message)

    return posted


class SnapshotArrived(Reported):
    """A snapshot of all groups has arrived; `trails` is how their lag went up to it."""

    def __init__(self, snapshot: LagSnapshot, trails: Trails) -> None:
        super().__init__()
        self.snapshot = snapshot
        self.trails = trails


class Unseen(Reported):
    """A snapshot has arrived while the screens show the past: alerts hear of it, and nothing is drawn."""

    def __init__(self, snapshot: LagSnapshot) -> None:
        super().__init__()
        self.snapshot = snapshot


class SnapshotFailed(Reported):
    """A refresh failed; the last snapshot stays, with its age. The next refresh is at `again`, seconds
    since the epoch, where that is known."""

    def __init__(self, problem: KcliError, again: float | None = None) -> None:
        super().__init__()
        self.problem = problem
        self.again = again


class Inspected(Reported):
    """What is wrong with the cluster besides its groups."""

    def __init__(self, incidents: list[Incident]) -> None:
        super().__init__()
        self.incidents = incidents


class Noted(Message):
    """A sentence for a toast, shown once."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class Connected(Reported):
    """The cluster answered: its id, how many brokers it has, and how many of those are down."""

    def __init__(self, cluster_id: str | None, brokers: int, down: int = 0) -> None:
        super().__init__()
        self.cluster_id = cluster_id
        self.brokers = brokers
        self.down = down


class TopicsListed(Message):
    """A page was answered with all topics; `names` are theirs, Kafka's own not always."""

    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self.names = names


class StateUpdated(Message, bubble=False):
    """To a page: the state has another snapshot."""


class Changed(Message, bubble=False):
    """To a page: the state of the cluster or of the session changed, the snapshot did not."""


class Go(Message):
    """Open the page of a route, or come back to it. `jump`: it has nothing to do with the page in front, so that the
    way home is short again."""

    def __init__(self, route: Route, *, jump: bool = False) -> None:
        super().__init__()
        self.route = route
        self.jump = jump


class ChangeProfile(Message):
    """Leave this cluster for that of another profile."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class KeepProfile(Message):
    """Do not open this profile after all, if it still waits for a change."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
