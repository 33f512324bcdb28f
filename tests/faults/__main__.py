"""Rows of the table of faults: `python -m tests.faults ROW… [--share 0.1] [--seed N]`."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic

from tests.faults.row import Row, Scale
from tests.faults.rows import BY_NAME, ROWS, TIMED

NEVER = 1_000_000
TOGETHER = 2


def main() -> int:
    wanted = arguments()
    names = wanted.rows or list(ROWS)
    beside = [name for name in names if name not in TIMED] if wanted.together else []
    with ThreadPoolExecutor(max_workers=TOGETHER) as others:
        reached = dict(
            zip(beside, others.map(partial(run_apart, wanted=wanted), beside), strict=True)
        )
    reached |= {n: run(n, BY_NAME[n], wanted) for n in names if n not in reached}
    missed = [name for name in names if not reached[name]]
    print(f"missed: {', '.join(missed)}" if missed else "every figure was reached")
    return 1 if missed else 0


def run_apart(name: str, *, wanted: argparse.Namespace) -> bool:
    """The same in a process of its own; one that ends with an error has told so itself."""
    scale = ["--share", str(wanted.share), "--seed", str(wanted.seed)]
    command = [sys.executable, "-m", "tests.faults", name, *scale]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    figures, *_ = done.stdout.splitlines() or [f"{name}: no figures"]
    print(figures, flush=True)
    return done.returncode == 0


def run(name: str, row: Row, wanted: argparse.Namespace) -> bool:
    """Whether a row reached its figures; what it found is printed."""
    began = monotonic()
    with tempfile.TemporaryDirectory(prefix="footnote-faults-") as folder, without_pauses():
        scale = Scale(share=wanted.share, seed=wanted.seed, folder=Path(folder) / "yard")
        outcome = asyncio.run(row(scale))
    line = {
        "row": name,
        "share": wanted.share,
        "seed": wanted.seed,
        "seconds": round(monotonic() - began, 1),
        **outcome.figures,
        "misses": list(dict.fromkeys(outcome.misses)),
    }
    print(json.dumps(line), flush=True)
    return not outcome.misses


@contextmanager
def without_pauses() -> Iterator[None]:
    """Only what is young is collected: a row keeps all that was said, and to go through that takes
    the stand-ins a third of a second and more, which would be counted as the program's."""
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, NEVER)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument(
        "rows", nargs="*", choices=[*BY_NAME, []], metavar="ROW", help=", ".join(BY_NAME)
    )
    parser.add_argument("--share", type=float, default=1.0, help="how much of each row is done")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--together", action="store_true", help="two rows beside each other, if they time nothing"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
