"""The page of each route. A page's module is imported when it is first opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.tui import routes

if TYPE_CHECKING:
    from kcli.tui.screens.page import Page
    from kcli.tui.state import State


def page_of(route: routes.Route, state: State) -> Page:
    """A fresh page of a route."""
    match route:
        case routes.Groups():
            from kcli.tui.screens.groups import Groups

            return Groups(state, route)
        case routes.Group():
            from kcli.tui.screens.group import Group

            return Group(state, route)
        case routes.Member():
            from kcli.tui.screens.group import Member

            return Member(state, route)
        case routes.Records():
            from kcli.tui.screens.records import Records

            return Records(state, route)
        case routes.Record():
            from kcli.tui.screens.record import RecordView

            return RecordView(state, route)
        case routes.Topics():
            from kcli.tui.screens.topics.topics import Topics

            return Topics(state, route)
        case routes.Topic():
            from kcli.tui.screens.topics.topic import Topic

            return Topic(state, route)
    return _page_of_a_machine(route, state)


def _page_of_a_machine(route: routes.Route, state: State) -> Page:
    match route:
        case routes.Brokers():
            from kcli.tui.screens.brokers import Brokers

            return Brokers(state, route)
        case routes.Broker():
            from kcli.tui.screens.brokers import Broker

            return Broker(state, route)
        case routes.Alerts():
            from kcli.tui.screens.alerts import Alerts

            return Alerts(state, route)
        case routes.Clusters():
            from kcli.tui.screens.clusters import Clusters

            return Clusters(state, route)
        case routes.Heatmap():
            from kcli.tui.screens.heat import Heatmap

            return Heatmap(state, route)
        case routes.Faults():
            from kcli.tui.screens.faults import Faults

            return Faults(state, route)
    return _page_of_an_admin(route, state)


def _page_of_an_admin(route: routes.Route, state: State) -> Page:
    match route:
        case routes.Transactions():
            from kcli.tui.screens.admin.transactions import Transactions

            return Transactions(state, route)
        case routes.Transaction():
            from kcli.tui.screens.admin.transactions import Transaction

            return Transaction(state, route)
        case routes.Acls():
            from kcli.tui.screens.admin.acls import Acls

            return Acls(state, route)
        case routes.Access():
            from kcli.tui.screens.admin.acls import Access

            return Access(state, route)
        case routes.Quotas():
            from kcli.tui.screens.admin.quotas import Quotas

            return Quotas(state, route)
        case routes.Reassignments():
            from kcli.tui.screens.admin.reassignments import Reassignments

            return Reassignments(state, route)
        case routes.Subjects():
            from kcli.tui.screens.admin.subjects import Subjects

            return Subjects(state, route)
        case routes.Subject():
            from kcli.tui.screens.admin.subjects import Subject

            return Subject(state, route)
    raise AssertionError(route)
