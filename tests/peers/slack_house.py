"""What a workspace shows beside its messages: private words, views, panes, files, reactions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import Any

from tests.peers.slack_rules import Refused, check_blocks, check_message, texts_of, unescaped
from tests.peers.slack_world import SlackWorld

Arguments = dict[str, Any]
TRIGGER_SECONDS = 3.0
URL_USES, URL_SECONDS = 5, 1_800.0
MAX_PROMPTS = 4


@dataclass
class Whisper:
    """A message that one person sees alone."""

    channel: str
    user: str
    text: str
    blocks: list[dict[str, Any]]
    thread_ts: str | None = None
    gone: bool = False

    @property
    def seen(self) -> str:
        return unescaped("\n".join(texts_of(self.blocks)) if self.blocks else self.text)


@dataclass
class ResponseUrl:
    """The way back to a command or a press."""

    channel: str
    user: str
    whisper: Whisper | None = None
    """The message that the pressed button stands below, where only one person sees it."""
    uses: int = 0
    made_at: float = field(default_factory=monotonic)


class SlackHouse:
    """Holds it, and refuses what Slack refuses."""

    def __init__(self, world: SlackWorld) -> None:
        self.world = world
        self.whispers: list[Whisper] = []
        self.homes: dict[str, dict[str, Any]] = {}
        self.views: list[dict[str, Any]] = []
        self.titles: dict[tuple[str, str], str] = {}
        self.prompts: dict[tuple[str, str], list[dict[str, str]]] = {}
        self.reactions: list[tuple[str, str, str]] = []
        self.files: dict[str, dict[str, Any]] = {}
        self.urls: dict[str, ResponseUrl] = {}
        self._triggers: dict[str, float] = {}
        self._numbers = count(1)

    def trigger(self) -> str:
        """Good for one view, for three seconds."""
        name = f"trigger.{next(self._numbers)}"
        self._triggers[name] = monotonic()
        return name

    def url(self, channel: str, user: str, whisper: Whisper | None = None) -> str:
        name = f"url{next(self._numbers)}"
        self.urls[name] = ResponseUrl(channel, user, whisper)
        return name

    def respond(self, name: str, body: Arguments) -> int:
        """What is posted to a response address; the HTTP status of the answer."""
        url = self.urls.get(name)
        if url is None or url.uses >= URL_USES or monotonic() - url.made_at > URL_SECONDS:
            return 404
        url.uses += 1
        if body.get("delete_original"):
            if url.whisper is not None:
                url.whisper.gone = True
            return 200
        check_message(body)
        if body.get("replace_original") and url.whisper is not None:
            url.whisper.text, url.whisper.blocks = body["text"], body.get("blocks") or []
        elif body.get("response_type") == "ephemeral":
            self.whisper(url.channel, url.user, body)
        else:
            raise Refused("invalid_arguments", "only private answers are foreseen here")
        return 200

    def whisper(self, channel: str, user: str, message: Arguments) -> Whisper:
        made = Whisper(
            channel, user, message.get("text") or "", message.get("blocks") or [],
            message.get("thread_ts"),
        )  # fmt: skip
        self.whispers.append(made)
        return made

    def told(self, user: str) -> list[str]:
        """What one person was told privately, in order."""
        return [whisper.seen for whisper in self.whispers if whisper.user == user]

    def open_view(self, arguments: Arguments) -> Arguments:
        issued = self._triggers.pop(str(arguments.get("trigger_id")), None)
        if issued is None:
            raise Refused("invalid_trigger_id")
        if monotonic() - issued > TRIGGER_SECONDS:
            raise Refused("expired_trigger_id")
        view = view_in(arguments)
        if view.get("type") != "modal":
            raise Refused("invalid_arguments", "a view is a modal")
        for name in ("title", "submit", "close"):
            if len(view[name]["text"]) > 24:
                raise Refused("invalid_arguments", f"{name} has at most 24 characters")
        if any(b["type"] == "input" for b in view["blocks"]) and "submit" not in view:
            raise Refused("invalid_arguments", "a view with inputs needs submit")
        if len(view.get("private_metadata", "")) > 3_000:
            raise Refused("invalid_arguments", "private_metadata")
        check_blocks(view.get("blocks"), at_most=100)
        self.views.append(view)
        return {"view": view | {"id": f"V{len(self.views)}"}}

    def publish(self, arguments: Arguments) -> Arguments:
        view = view_in(arguments)
        if view.get("type") != "home" or set(view) - {"type", "blocks", "callback_id"}:
            raise Refused("invalid_arguments", "a home has a type and blocks")
        if arguments.get("user_id") not in self.world.users:
            raise Refused("user_not_found")
        check_blocks(view.get("blocks"), at_most=100)
        self.homes[arguments["user_id"]] = view
        return {"view": view}

    def set_prompts(self, arguments: Arguments) -> None:
        prompts = arguments.get("prompts")
        if not isinstance(prompts, list) or not 1 <= len(prompts) <= MAX_PROMPTS:
            raise Refused("invalid_arguments", f"1 to {MAX_PROMPTS} prompts")
        if any(set(p) != {"title", "message"} or not all(p.values()) for p in prompts):
            raise Refused("invalid_arguments", "a prompt has a title and a message")
        self.prompts[arguments["channel_id"], arguments["thread_ts"]] = prompts

    def begin_upload(self, arguments: Arguments) -> str:
        if not arguments.get("filename") or int(arguments.get("length", 0)) < 1:
            raise Refused("invalid_arguments", "filename and length")
        name = f"F{next(self._numbers):04d}"
        self.files[name] = {
            "id": name,
            "name": arguments["filename"],
            "size": int(arguments["length"]),
        }
        return name

    def text_file(self, name: str, content: bytes, mimetype: str = "text/plain") -> dict[str, Any]:
        """A file that a person uploaded, as it stands in events; the peer serves it."""
        file = f"F{next(self._numbers):04d}"
        self.files[file] = {
            "id": file, "name": name, "mimetype": mimetype, "size": len(content),
            "content": content,
        }  # fmt: skip
        return {k: v for k, v in self.files[file].items() if k != "content"}


def view_in(arguments: Arguments) -> dict[str, Any]:
    view = arguments.get("view")
    view = json.loads(view) if isinstance(view, str) else view
    if not isinstance(view, dict):
        raise Refused("invalid_arguments", "there is no view")
    return view


def controls_in(blocks: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Everything that can be pressed, by its label, as Slack would send it back."""
    for block in blocks:
        for element in block.get("elements", ()):
            if element["type"] == "button":
                yield element["text"]["text"], element
            elif element["type"] == "feedback_buttons":
                for side in ("positive_button", "negative_button"):
                    shown = element[side]
                    pressed = {"type": "feedback_buttons", "action_id": element["action_id"]}
                    yield shown["text"]["text"], pressed | {"value": shown["value"]}
