"""What runs in the process that reads other people's files: request in, text out, within limits."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from typing import Any, BinaryIO

from rag_core.ingestion.loaders.document import Converted, Unreadable

EXTRA = {"mammoth", "pptx", "pypdfium2"}
OUT_OF_MEMORY = {"unreadable": "it needs more memory than a file may take", "broken": True}
DEPTH = 5_000
"""Python's own limit is met by pages that are merely nested deeply."""


def main() -> None:
    """Serve until the other side closes its end."""
    memory, output, seconds = (int(number) for number in sys.argv[1:4])
    requests, replies = sys.stdin.buffer, replies_alone()
    restrain(memory, seconds)
    sys.setrecursionlimit(DEPTH)
    while line := requests.readline():
        request = json.loads(line)
        content = requests.read(request["size"])
        grant(seconds)
        answer(replies, reply_to(request, content, output))


def replies_alone() -> BinaryIO:
    """The way back, kept from parsers that print: they print into nothing."""
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    return replies


def restrain(memory: int, seconds: int) -> None:
    """Bounds that the system keeps, where it knows them: memory, no files written, no dumps."""
    try:
        import resource
    except ImportError:  # not a Unix; the other side's clock still holds
        return
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def grant(seconds: int) -> None:
    """So much more time of the processor: should the other side die, this one does not go on."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + seconds + 1
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def reply_to(request: dict[str, Any], content: bytes, output: int) -> dict[str, Any]:
    """The text, or the reason why there is none. Whatever a parser raises ends here."""
    try:
        converted = convert(request["reader"], request["name"], content)
    except Unreadable as refusal:
        return {"unreadable": str(refusal)}
    except ModuleNotFoundError as error:
        return {"unreadable": missing(error)}
    except MemoryError:
        return OUT_OF_MEMORY
    except RecursionError:
        return {"unreadable": "it is nested too deeply"}
    except Exception as error:  # noqa: BLE001 - parsers of strangers' files raise anything
        if "memory" in str(error).lower():
            return OUT_OF_MEMORY
        return {"unreadable": f"it is damaged or not what its name says ({type(error).__name__})"}
    if len(converted.text) > output:
        return {"unreadable": f"it holds more than {output // (1024 * 1024)} MB of text"}
    return {
        "text": sound(converted.text),
        "fields": {name: sound(str(value)) for name, value in converted.fields.items()},
        "notices": list(converted.notices),
    }


def sound(text: str) -> str:
    """Text that any store takes: no halves of characters, no zero."""
    return text.encode("utf-8", errors="replace").decode().replace("\x00", "")


def convert(reader: str, name: str, content: bytes) -> Converted:
    module = importlib.import_module(f"rag_core.ingestion.loaders.{reader}")
    converted: Converted = module.convert(name, content)
    return converted


def missing(error: ModuleNotFoundError) -> str:
    if (error.name or "").split(".")[0] in EXTRA:
        return "it needs the extra `documents`: pip install 'footnote-bot[documents]'"
    return f"a part of the program is not installed ({error.name})"


def answer(replies: BinaryIO, reply: dict[str, Any]) -> None:
    body = json.dumps(reply).encode()
    replies.write(b"%d\n" % len(body) + body)
    replies.flush()


if __name__ == "__main__":
    main()
