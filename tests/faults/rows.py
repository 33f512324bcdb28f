"""The rows of the table, by name, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Mapping

from tests.faults.kills import failpoints, kills, shutdown
from tests.faults.row import Row

ROWS: Mapping[str, Row] = {
    "kills": kills,
    "failpoints": failpoints,
    "shutdown": shutdown,
}
