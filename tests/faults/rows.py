"""The rows of the table, by name, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Mapping

from tests.faults.deliveries import deliveries, posts, threads
from tests.faults.kills import failpoints, kills, kills_on_postgres, shutdown
from tests.faults.loads import fairness, load, soak
from tests.faults.row import Row
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
    "fairness": fairness,
    "long-threads": long_threads,
    "soak": soak,
}
