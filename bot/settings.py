"""Every environment variable, read and checked once; all faults are reported together."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, Literal, Self

from dotenv.parser import parse_stream
from pydantic import ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from adapters.web.config import parse_api_keys
from bot.chat_presets import missing_for_chat
from bot.misspelled import misspelled
from bot.setting import by_variable, faults, ids_in
from bot.setting_groups.desk import DeskSettings
from bot.setting_groups.discord import DiscordSettings
from bot.setting_groups.house import HouseSettings
from bot.setting_groups.model import ChatModelName, ModelSettings
from bot.setting_groups.slack import SlackSettings
from rag_core.errors import ConfigurationError

log = logging.getLogger(__name__)

DEFAULT_WEB_PORT = 8080
NAMES_THE_FILE = "FOOTNOTE_ENV_FILE"
USUAL = Path(".env")
"""Read unless FOOTNOTE_ENV_FILE names another file."""


# pydantic lists the fields of the last base first.
class Settings(
    SlackSettings, DiscordSettings, DeskSettings, ModelSettings, HouseSettings, BaseSettings
):
    """What the operator decided. Frozen; secrets show as asterisks."""

    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True, populate_by_name=False
    )

    @model_validator(mode="wrap")
    @classmethod
    def _every_fault_at_once(cls, read: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        partners = [*wrong_keys(read.get("FOOTNOTE_API_KEYS")), *missing_partners(read)]
        try:
            made = handler(read)
        except ValidationError as error:
            raise ConfigurationError(
                "\n".join([*faults(error, cls.model_fields), *partners])
            ) from None
        if partners:
            raise ConfigurationError("\n".join(partners))
        return made

    @property
    def chat_model(self) -> ChatModelName:
        has_openai = self.openai_api_key is not None or self.openai_base_url is not None
        return self.model or ("openai" if has_openai else "quoting")

    @property
    def answer_verifier(self) -> Literal["model", "code"]:
        """What verifies answers; without a language model there is nothing that could read them."""
        return "code" if self.chat_model == "quoting" else self.verifier or "model"

    @property
    def listens_on(self) -> tuple[str, int]:
        """Host and port of the web door."""
        behind_a_router = self.port is not None and self.api_keys is not None
        everywhere = "0.0.0.0"  # noqa: S104 - the router of a Procfile host must reach it
        host = self.web_host or (everywhere if behind_a_router else "127.0.0.1")
        port = self.port if self.web_port is None else self.web_port
        return host, DEFAULT_WEB_PORT if port is None else port

    @property
    def allowed_job_folders(self) -> tuple[Path, ...]:
        named = (self.job_folders or "").split(",")
        return tuple(Path(folder.strip()).resolve() for folder in named if folder.strip())

    @property
    def books_closed(self) -> frozenset[str]:
        return frozenset(ids_in(self.closed_books))

    @property
    def allowed_fetch_hosts(self) -> tuple[str, ...]:
        named = (self.fetch_hosts or "").split(",")
        return tuple(host.strip() for host in named if host.strip())

    @property
    def database(self) -> str:
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{self.data_dir.resolve() / 'footnote.db'}"


def wrong_keys(read: object) -> Iterable[str]:
    """What is wrong with each key of the web door, by its number: no key is shown."""
    try:
        parse_api_keys(str(read or ""))
    except ConfigurationError as error:
        yield from str(error).splitlines()


def missing_partners(read: Mapping[str, object]) -> Iterable[str]:
    """Settings that need another one which is not there."""
    has = {name for name, value in read.items() if value not in (None, "")}
    if "SLACK_BOT_TOKEN" in has and not has & {"SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"}:
        yield (
            "SLACK_BOT_TOKEN is set, but neither SLACK_APP_TOKEN (Socket Mode) nor"
            " SLACK_SIGNING_SECRET (HTTP) is; set one of them."
        )
    if "SLACK_APP_TOKEN" in has and not has & {"SLACK_BOT_TOKEN", "SLACK_CLIENT_ID"}:
        yield "SLACK_APP_TOKEN is set, but SLACK_BOT_TOKEN is not; set it too."
    if "SLACK_CLIENT_ID" in has:
        yield from partners_of_client(has)
    if is_true(read.get("FOOTNOTE_OPEN_LOOPBACK")):
        yield from closes_open_loopback(has)
    if read.get("FOOTNOTE_VERIFIER") == "model" and read.get("FOOTNOTE_MODEL") == "quoting":
        yield (
            "FOOTNOTE_VERIFIER is 'model', but FOOTNOTE_MODEL is 'quoting'; name a language model,"
            " or set FOOTNOTE_VERIFIER=code."
        )
    yield from missing_for_chat(read, has)
    if read.get("FOOTNOTE_EMBEDDER") == "cohere" and "COHERE_API_KEY" not in has:
        yield "FOOTNOTE_EMBEDDER is 'cohere', but COHERE_API_KEY is not set; set it too."
    if "COHERE_RERANK_MODEL" in has and "COHERE_API_KEY" not in has:
        yield "COHERE_RERANK_MODEL is set, but COHERE_API_KEY is not; set it too."
    openai = {"OPENAI_API_KEY", "OPENAI_BASE_URL"}
    if read.get("FOOTNOTE_EMBEDDER") == "openai" and not has & openai:
        yield (
            "FOOTNOTE_EMBEDDER is 'openai', but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set;"
            " set one of them."
        )


TRUE = frozenset({"true", "1", "yes", "y", "on", "t"})


def is_true(read: object) -> bool:
    return str(read).strip().lower() in TRUE


def closes_open_loopback(has: Collection[str]) -> Iterable[str]:
    """Settings by which others reach the port, where nobody is asked for a key."""
    for name in ("FOOTNOTE_PUBLIC_URL", "FOOTNOTE_API_KEYS", "SLACK_SIGNING_SECRET"):
        if name in has:
            yield (
                f"FOOTNOTE_OPEN_LOOPBACK is true and asks nobody for a key, but {name} is set, by"
                " which others come to the web door; unset one of them."
            )


def has_desktop() -> bool:
    """Whether a browser that is opened here is seen by whoever called."""
    if "SSH_CONNECTION" in os.environ or "SSH_TTY" in os.environ:
        return False
    if sys.platform in {"darwin", "win32"}:
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def partners_of_client(has: Collection[str]) -> Iterable[str]:
    """What an app needs that workspaces install by themselves."""
    if "SLACK_BOT_TOKEN" in has:
        yield (
            "SLACK_CLIENT_ID (several workspaces) and SLACK_BOT_TOKEN (one) are both set;"
            " unset one of them."
        )
    elif not {"SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"} & set(has):
        yield (
            "SLACK_CLIENT_ID is set, but neither SLACK_APP_TOKEN (Socket Mode) nor"
            " SLACK_SIGNING_SECRET (HTTP) is; set one of them."
        )
    for partner in ("SLACK_CLIENT_SECRET", "FOOTNOTE_PUBLIC_URL", "FOOTNOTE_SECRET_KEYS"):
        if partner not in has:
            yield f"SLACK_CLIENT_ID is set, but {partner} is not; set it too."


def named_file() -> Path:
    """The file that settings are read from, beside the environment."""
    named = os.environ.get(NAMES_THE_FILE)
    if named and not is_there(Path(named)):
        raise ConfigurationError(f"{NAMES_THE_FILE} is {named!r}, and there is no such file.")
    return Path(named) if named else USUAL


def check_lines(file: Path) -> None:
    """A line that cannot be read would be left out, and what it decides with it."""
    if not is_there(file):
        return
    for line in parse_stream(StringIO(text_of(file))):
        if line.error:
            raise ConfigurationError(
                f"Line {line.original.line} of {file} cannot be read; allowed: NAME=VALUE."
            )


def is_there(file: Path) -> bool:
    with read_errors(file):
        return file.is_file()


def text_of(file: Path) -> str:
    try:
        with read_errors(file):
            return file.read_text(encoding="utf-8-sig")  # some editors begin a file with a mark
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} is not text in UTF-8; save it as such.") from None


@contextmanager
def read_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read ({error.strerror}).") from None


def read_settings(env_file: Path | None = USUAL) -> Settings:
    """The settings, or one ConfigurationError that names every fault.

    What would be passed over is said, on standard error where no log is kept yet."""
    env_file = named_file() if env_file == USUAL else env_file
    if env_file is not None:
        check_lines(env_file)
    for each in passed_over(env_file):
        log.warning(each)
    return Settings(_env_file=env_file)  # type: ignore[call-arg]  # the base class takes it


def passed_over(env_file: Path | None) -> Sequence[str]:
    """A sentence for each name that decides nothing: no reason not to start, because hosts and
    compose files bring names of their own."""
    written = names_in(env_file) if env_file is not None and is_there(env_file) else []
    told = misspelled(in_file=written, in_environment=os.environ, known=variables())
    if NAMES_THE_FILE in written:
        told.append(f"{NAMES_THE_FILE} decides nothing in {env_file}; set it in the environment.")
    return told


def names_in(file: Path) -> Sequence[str]:
    return [line.key for line in parse_stream(StringIO(text_of(file))) if line.key]


def variables() -> Mapping[str, FieldInfo]:
    """Every setting by the name of its environment variable."""
    return by_variable(Settings.model_fields)
