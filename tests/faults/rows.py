"""The rows of the table, by name, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Mapping

from tests.faults.clocks import clock
from tests.faults.connections import connections
from tests.faults.deliveries import deliveries, deliveries_on_postgres, posts, threads
from tests.faults.disks import damaged_page, disk_fails, disk_full
from tests.faults.everything import everything, everything_on_a_server
from tests.faults.kills import (
    failpoints,
    failpoints_on_postgres,
    kills,
    kills_on_postgres,
    shutdown,
    shutdown_on_postgres,
)
from tests.faults.lag import event_loop
from tests.faults.loads import backlog, fairness, load, soak, tenant
from tests.faults.row import Row
from tests.faults.services import index, services
from tests.faults.troubles import long_threads, upstreams

ROWS: Mapping[str, Row] = {
    "kills": kills,
    "kills-postgres": kills_on_postgres,
    "failpoints": failpoints,
    "deliveries": deliveries,
    "posts": posts,
    "shutdown": shutdown,
    "upstreams": upstreams,
    "threads": threads,
    "load": load,
    "backlog": backlog,
    "fairness": fairness,
    "long-threads": long_threads,
    "soak": soak,
    "disk-full": disk_full,
    "disk-fails": disk_fails,
    "damaged-page": damaged_page,
    "clock": clock,
    "event-loop": event_loop,
    "tenant": tenant,
    "connections": connections,
    "services": services,
    "index": index,
    "failpoints-postgres": failpoints_on_postgres,
    "deliveries-postgres": deliveries_on_postgres,
    "shutdown-postgres": shutdown_on_postgres,
    "everything": everything,
}
BY_NAME: Mapping[str, Row] = {**ROWS, "everything-server": everything_on_a_server}
"""Also what is run only when it is asked for."""

TIMED = frozenset(
    {
        "shutdown",
        "shutdown-postgres",
        "load",
        "backlog",
        "fairness",
        "event-loop",
        "tenant",
        "connections",
        "everything",
    }
)
"""Rows whose figures are short times: each has the machine to itself."""
