"""How much memory and processor time a process has used, as Linux counts it."""

from __future__ import annotations

import os
import re
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
USER_TIME, SYSTEM_TIME = 11, 12
"""Places in /proc/PID/stat after the name of the program, which may hold anything."""


def resident_kilobytes(process: int | str = "self") -> int:
    return counted("VmRSS", process)


def peak_kilobytes(process: int | str = "self") -> int:
    """The most there ever was."""
    return counted("VmHWM", process)


def counted(name: str, process: int | str) -> int:
    status = Path(f"/proc/{process}/status")
    found = re.search(rf"^{name}:\s+(\d+) kB", status.read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{status} does not say {name}: this is measured on Linux only")
    return int(found[1])


def processor_seconds(process: int | str = "self") -> float:
    """All threads together, since the process began."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[USER_TIME]) + int(fields[SYSTEM_TIME])) / TICKS


def mapped_kilobytes(process: int, folder: Path) -> int:
    """What of the files below this folder is in the process's memory."""
    inside, found = False, 0
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        name, _, rest = line.partition(" ")
        if not name.endswith(":"):
            inside = f" {folder}/" in rest
        elif inside and name == "Rss:":
            found += int(rest.split()[0])
    return found
