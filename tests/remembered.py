"""The texts that objects of the program still hold, found by following every reference."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

PASSED_BY = (
    "tests",
    "_pytest",
    "pytest",
    "asyncio",
    "_asyncio",
    "logging",
    "hypothesis",
    "sqlalchemy",
)
"""Types from these lead out of the program, to the peers and fakes that it talks to."""
OURS = ("rag_core", "adapters", "bot")
CACHED = type(functools.lru_cache(len))


def function_caches() -> list[Any]:
    """Every cached function of the program."""
    modules = [m for name, m in sys.modules.items() if name.split(".")[0] in OURS]
    return [value for m in modules for value in vars(m).values() if isinstance(value, CACHED)]


def texts_held_by(*roots: Any) -> Iterator[str]:
    """Blocks."""
    seen: set[int] = set()
    left = list(roots)
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, str):
            yield each
        elif isinstance(each, FunctionType):
            left += [each.__closure__, each.__defaults__, each.__kwdefaults__]
        elif isinstance(each, MethodType):
            left += [each.__self__, each.__func__]
        elif not is_passed_by(each):
            left += gc.get_referents(each)


def is_passed_by(each: Any) -> bool:
    if isinstance(each, type | ModuleType) or type(each).__name__ in {"frame", "coroutine"}:
        return True
    return type(each).__module__.split(".")[0] in PASSED_BY


def holds(word: str, *roots: Any) -> bool:
    return any(word in text for text in texts_held_by(*roots))
