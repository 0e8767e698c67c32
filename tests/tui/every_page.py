"""A route to each page of the dashboard, on the cluster that the tests of screens share."""

from __future__ import annotations

from kcli.tui import routes
from kcli.tui.tail import Seen

RECORD = Seen(0, "orders", 0, 3, 1_795_265_117_000, b"k", b'{"id": 3}', [])
EVERY: dict[type[routes.Route], routes.Route] = {
    routes.Groups: routes.Groups(),
    routes.Group: routes.Group("billing"),
    routes.Member: routes.Member("billing", "nobody-1"),
    routes.Topics: routes.Topics(),
    routes.Topic: routes.Topic("orders"),
    routes.Records: routes.Records(("orders",)),
    routes.Record: routes.Record("orders", 0, 3, RECORD),
    routes.Brokers: routes.Brokers(),
    routes.Broker: routes.Broker(1),
    routes.Alerts: routes.Alerts(),
    routes.Clusters: routes.Clusters(),
    routes.Heatmap: routes.Heatmap(),
    routes.Transactions: routes.Transactions(),
    routes.Transaction: routes.Transaction("billing-1"),
    routes.Acls: routes.Acls(),
    routes.Access: routes.Access("topic", "orders"),
    routes.Quotas: routes.Quotas(),
    routes.Reassignments: routes.Reassignments(),
    routes.Subjects: routes.Subjects(),
    routes.Subject: routes.Subject("orders-value"),
    routes.Faults: routes.Faults(),
}
