"""Rows of the table of faults: `python -m tests.faults ROW… [--share 0.1] [--seed N]`."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from tests.faults.row import Row, Scale
from tests.faults.rows import BY_NAME, ROWS

NEVER = 1_000_000


def main() -> int:
    wanted = arguments()
    missed = [name for name in wanted.rows or list(ROWS) if not run(name, BY_NAME[name], wanted)]
    print(f"missed: {', '.join(missed)}" if missed else "every figure was reached")
    return 1 if missed else 0


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
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
