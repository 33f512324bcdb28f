"""How much memory this process holds, as Linux counts it."""

from __future__ import annotations

import re
from pathlib import Path

STATUS = Path("/proc/self/status")


def resident_kilobytes() -> int:
    return counted("VmRSS")


def peak_kilobytes() -> int:
    """The most there ever was."""
    return counted("VmHWM")


def counted(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{STATUS} does not say {name}: this is measured on Linux only")
    return int(found[1])
