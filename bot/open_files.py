"""How many files and sockets the process may open."""

from __future__ import annotations

import logging
import resource

log = logging.getLogger(__name__)

MOST_FILES = 65_536
"""Some systems allow a billion, and programs that are started from here close each of them."""


def raise_open_file_limit() -> None:
    """Raise the limit to what the system allows: each connection takes one."""
    limit, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if allowed == resource.RLIM_INFINITY else min(allowed, MOST_FILES)
    if limit == resource.RLIM_INFINITY or limit >= wanted:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, allowed))
    except (ValueError, OSError) as error:  # macOS names a limit that it does not allow
        log.warning("could not raise the open file limit", extra={"cause": str(error)})
