"""What schemathesis is told beyond the description of HTTP: keys in turn, and what is there.

It is loaded by the program itself, through SCHEMATHESIS_HOOKS."""

from __future__ import annotations

import itertools
import os
from typing import Any

import schemathesis
from schemathesis import AuthContext, Case, GenerationMode, HookContext

KEYS = [key for key in os.environ["TRIED_KEYS"].split(",") if key]
LESSON, FOLDER = os.environ["TRIED_LESSON"], os.environ["TRIED_FOLDER"]
MODULE = "module-1"
IN_A_MINUTE = 80
"""Fewer than a key may send, because probes without or beside it may count for it."""
TEXTS = ("message", "text", "tenant")
turns = itertools.count()


class KeysInTurn:
    """None is asked for more than its minute holds."""

    def get(self, case: Case, context: AuthContext) -> str:
        return KEYS[next(turns) // IN_A_MINUTE % len(KEYS)]

    def set(self, case: Case, data: str, context: AuthContext) -> None:
        case.headers["Authorization"] = f"Bearer {data}"


schemathesis.auth(refresh_interval=None)(KeysInTurn)


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    """What the description allows also fits together and names what is there."""
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    if isinstance(case.body, dict):
        case.body = fitting(case.body, at=case.path)
    if case.path == "/lessons/{parent_doc_id}":
        case.path_parameters = {"parent_doc_id": LESSON}
    if case.path == "/uploads/{book_id}/{path}":
        case.path_parameters = {"book_id": "dropped", "path": "notes.md"}


def fitting(body: dict[str, Any], *, at: str) -> dict[str, Any]:
    """A body that is right beyond what a description can say."""
    # Neither a question nor a name is made of control characters or blanks alone.
    made = {
        name: "bbb"[: len(text)] + text[3:] if name in TEXTS else text
        for name, text in body.items()
    }
    if made.get("context"):  # its bound is on all items together
        first = made["context"][0]
        made["context"] = [first | {"text": f"bbb{first['text']}"[:1_000]}]
    if made.get("module") is not None:
        made["module"] = MODULE
    if made.get("chapter_max") is not None:
        made["chapter_min"] = min(made.get("chapter_min") or 0, made["chapter_max"])
    if at == "/jobs":
        made |= {"paths": [FOLDER], "base_url": "https://library.example/"}
        made.pop("urls", None)
        if made.get("embed_anew") and made.get("mode", "incremental") == "incremental":
            made["mode"] = "full"
    return made
