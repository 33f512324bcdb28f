"""One message of ours, as the ledger keeps it and as Discord takes it."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import discord
from discord.http import MultipartParameters

SUPPRESS_EMBEDS = 1 << 2
NO_PINGS: Mapping[str, Any] = {"parse": []}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A text that hangs on a message."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """What a message says, with its buttons or its file."""

    content: str
    components: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    file: TextFile | None = None

    @classmethod
    def read(cls, payload: str) -> Self:
        shown = json.loads(payload)
        file = shown.get("file")
        return cls(
            content=shown["content"],
            components=tuple(shown.get("components", ())),
            file=TextFile(name=file["name"], text=file["text"]) if file else None,
        )

    def payload(self) -> str:
        """What `read` reads."""
        shown: dict[str, Any] = {"content": self.content}
        if self.components:
            shown["components"] = list(self.components)
        if self.file is not None:
            shown["file"] = {"name": self.file.name, "text": self.file.text}
        return json.dumps(shown, ensure_ascii=False)

    def body(self, *, pings_role: str | None = None, **more: Any) -> dict[str, Any]:
        """The message as JSON; it pings nobody but a role that is named."""
        roles = {"roles": [pings_role]} if pings_role else {}
        return {
            "content": self.content,
            "components": list(self.components),
            "allowed_mentions": {**NO_PINGS, **roles},
            **more,
        }

    def parameters(self, **more: Any) -> MultipartParameters:
        """The same for the library; use it as a context, which closes the file."""
        body = self.body(**more)
        if self.file is None:
            return MultipartParameters(payload=body, multipart=None, files=None)
        file = discord.File(io.BytesIO(self.file.text.encode()), filename=self.file.name)
        body["attachments"] = [file.to_dict(0)]
        form: list[dict[str, Any]] = [
            {"name": "payload_json", "value": json.dumps(body)},
            {
                "name": "files[0]",
                "value": file.fp,
                "filename": file.filename,
                "content_type": "application/octet-stream",
            },
        ]
        return MultipartParameters(payload=None, multipart=form, files=[file])
