"""With records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.tui.actions.acts import Act, of_change
from kcli.tui.actions.producing import draft_of
from kcli.tui.text.printable import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.tui.screens.page import Page
    from kcli.tui.tail import Seen


def of_record(page: Page, record: Seen | None, topic: str, export: Callable[[], object] | None = None) -> list[Act]:
    """With a record of a topic, and with all that are shown, which `export` writes to a file."""
    from kcli.tui import routes
    from kcli.tui.actions.changes.topics import TrimTopic

    name = quoted(topic)
    acts = [
        Act("n", "Produce a record …", f"kcli produce {name} --value …", lambda: page.produce(topic), changes=True),
        Act("t", "Follow the topic", f"kcli tail {name}", lambda: page.go(routes.Records((topic,)))),
        Act("o", "Its topic", f"kcli topics describe {name}", lambda: page.go(routes.Topic(topic))),
    ]
    if export is not None:
        acts.append(Act("w", "Write the shown records to a file", "", export))
    if record is None:
        return acts
    at = f"kcli consume {quoted(record.topic)} -p {record.partition} -o {record.offset} -c 1"
    draft = draft_of(record)
    whole = Act(
        "v",
        "Show it whole",
        f"{at} -J",
        lambda: page.go(routes.Record(record.topic, record.partition, record.offset, record)),
    )
    before = TrimTopic(record.topic, record.partition, str(record.offset))
    return [
        whole,
        Act("e", "Edit and send again …", draft.command, lambda: page.produce(record.topic, draft), changes=True),
        of_change("p", "Trim: delete the records before it …", before, page.begin),
        *acts,
    ]
