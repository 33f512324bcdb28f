"""Every environment variable, read and checked once; all faults are reported together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    ModelWrapValidatorHandler,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.discord_settings import (
    NUMBERS_RULE,
    PAIRS_RULE,
    CommandPlace,
    Numbers,
    Pairs,
    ReaderRoles,
    Shards,
)
from bot.setting import (
    ADDRESS_RULE,
    Address,
    BookName,
    CommandName,
    DatabaseUrl,
    Hosts,
    PromptFile,
    SlackIds,
    by_variable,
    faults,
    setting,
)
from rag_core.books.book import BOOK_ID_RULE
from rag_core.errors import ConfigurationError

COMMAND_RULE = "'/' and 1 to 31 lower-case letters, digits, '-' and '_'"
DEFAULT_WEB_PORT = 8080


class Settings(BaseSettings):
    """What the operator decided. Frozen; secrets show as asterisks."""

    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True, populate_by_name=False
    )

    data_dir: Path = setting(
        "FOOTNOTE_DATA_DIR",
        Path(".footnote"),
        "Folder for the database, the index and the private door",
        "a folder that this user may write to",
    )
    database_url: DatabaseUrl | None = setting(
        "DATABASE_URL",
        None,
        "Database; unset: SQLite in the data folder",
        "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME",
    )
    default_book: BookName | None = setting(
        "FOOTNOTE_DEFAULT_BOOK",
        None,
        "Book that is read wherever no other is bound; unset: the only one there is",
        f"a book id: {BOOK_ID_RULE}",
    )
    web_host: str | None = setting(
        "FOOTNOTE_WEB_HOST",
        None,
        "Address that the web door listens on (127.0.0.1)",
        "a host name or address",
    )
    web_port: int | None = setting(
        "FOOTNOTE_WEB_PORT",
        None,
        "Port of the web door (8080)",
        "a whole number from 0 to 65535; 0 takes a free one",
        ge=0,
        le=65535,
    )
    port: int | None = setting(
        "PORT",
        None,
        "Port that a Procfile host assigns; with API keys the web door then listens on all"
        " interfaces",
        "a whole number from 1 to 65535",
        ge=1,
        le=65535,
    )
    public_url: Address | None = setting(
        "FOOTNOTE_PUBLIC_URL",
        None,
        "Address under which readers reach the web door; links in chats lead there",
        ADDRESS_RULE,
    )
    api_keys: SecretStr | None = setting(
        "FOOTNOTE_API_KEYS",
        None,
        "API keys of the web door; unset: loopback only",
        "comma-separated KEY[:SCOPE[:BOOK|BOOK…]], scope ask, read or admin",
    )
    job_folders: str | None = setting(
        "FOOTNOTE_JOB_FOLDERS",
        None,
        "Folders below which the web door may be asked to read files; unset: none",
        "folders, separated by commas",
    )
    fetch_hosts: Hosts | None = setting(
        "FOOTNOTE_FETCH_HOSTS",
        None,
        "Hosts of your own network whose pages may be read into books; unset: public ones only",
        "HOST or HOST:PORT, separated by commas",
    )
    hook_secret: SecretStr | None = setting(
        "FOOTNOTE_HOOK_SECRET",
        None,
        "Signs calls of /hooks/sources/BOOK, which have a book's sources read again; unset: none",
        "a secret of at least 16 characters",
        min_length=16,
    )
    embedder: Literal["local", "cohere", "openai"] | None = setting(
        "FOOTNOTE_EMBEDDER",
        None,
        "What a new index is built with; unset: cohere with a Cohere key, else local",
        "local, cohere or openai",
    )
    model: Literal["openai", "quoting"] | None = setting(
        "FOOTNOTE_MODEL",
        None,
        "Who writes the answers; unset: openai where OPENAI_API_KEY or OPENAI_BASE_URL is set,"
        " else quoting",
        "openai or quoting",
    )
    confidence_profile: Literal["strict", "simple", "calibrated"] = setting(
        "FOOTNOTE_CONFIDENCE_PROFILE",
        "calibrated",
        "How sure the evidence must be before there is an answer",
        "strict, simple or calibrated",
    )
    openai_api_key: SecretStr | None = setting(
        "OPENAI_API_KEY", None, "Key of the language model", "a key"
    )
    openai_base_url: Address | None = setting(
        "OPENAI_BASE_URL", None, "Any OpenAI-compatible server; unset: OpenAI", ADDRESS_RULE
    )
    openai_model: str = setting(
        "OPENAI_MODEL", "gpt-4o-mini", "Chat model", "a model's name", min_length=1
    )
    openai_embedding_model: str = setting(
        "OPENAI_EMBEDDING_MODEL",
        "text-embedding-3-small",
        "Embedding model where FOOTNOTE_EMBEDDER is openai",
        "a model's name",
        min_length=1,
    )
    cohere_api_key: SecretStr | None = setting("COHERE_API_KEY", None, "Key of Cohere", "a key")
    cohere_api_url: Address | None = setting(
        "CO_API_URL", None, "Address of Cohere; unset: the vendor's", ADDRESS_RULE
    )
    cohere_model: str = setting(
        "COHERE_MODEL",
        "embed-english-v3.0",
        "Embedding model where FOOTNOTE_EMBEDDER is cohere",
        "a model's name",
        min_length=1,
    )
    cohere_rerank_model: str | None = setting(
        "COHERE_RERANK_MODEL",
        None,
        "Rerank model of Cohere; needs COHERE_API_KEY; unset: no rerank",
        "a model's name",
    )
    qdrant_url: Address | None = setting(
        "QDRANT_URL", None, "Qdrant server; unset: the embedded index", ADDRESS_RULE
    )
    qdrant_api_key: SecretStr | None = setting(
        "QDRANT_API_KEY", None, "Key of the Qdrant server", "a key"
    )
    qdrant_collection_name: str = setting(
        "QDRANT_COLLECTION_NAME",
        "documentation",
        "Collection that holds all books",
        "1 to 255 letters, digits, '_' and '-'",
        pattern=r"^[A-Za-z0-9_-]{1,255}$",
    )
    agent_top_k: int = setting(
        "AGENT_TOP_K",
        5,
        "Passages that a search hands to the model",
        "a whole number from 1 to 10",
        ge=1,
        le=10,
    )
    agent_score_threshold: float = setting(
        "AGENT_SCORE_THRESHOLD",
        0.0,
        "Least similarity of a passage",
        "a number from 0 to 1",
        ge=0.0,
        le=1.0,
    )
    agent_max_turns: int = setting(
        "AGENT_MAX_TURNS",
        50,
        "Questions in a session before a fresh one begins",
        "a whole number from 1 to 1000",
        ge=1,
        le=1000,
    )
    agent_temperature: float = setting(
        "AGENT_TEMPERATURE",
        0.1,
        "How freely the model words its answers",
        "a number from 0 to 1",
        ge=0.0,
        le=1.0,
    )
    agent_max_tokens: int | None = setting(
        "AGENT_MAX_TOKENS",
        None,
        "Longest answer, in tokens; unset: the model's own limit",
        "a whole number from 1",
        ge=1,
    )
    agent_system_prompt_file: PromptFile | None = setting(
        "AGENT_SYSTEM_PROMPT_FILE",
        None,
        "File whose text replaces the built-in instructions",
        "a readable file that is not empty",
    )
    answer_seconds: float = setting(
        "FOOTNOTE_ANSWER_SECONDS",
        60.0,
        "Longest time for one answer, from the moment work on it begins",
        "a number from 5 to 600",
        ge=5,
        le=600,
    )
    user_questions_hour: int = setting(
        "FOOTNOTE_USER_QUESTIONS_HOUR",
        20,
        "Questions of one person in an hour on Discord and Slack; 0: no limit",
        "a whole number from 0",
        ge=0,
    )
    channel_questions_day: int = setting(
        "FOOTNOTE_CHANNEL_QUESTIONS_DAY",
        200,
        "Questions in one channel a day on Discord and Slack; 0: no limit",
        "a whole number from 0",
        ge=0,
    )
    tenant_tokens_day: int | None = setting(
        "FOOTNOTE_TENANT_TOKENS_DAY",
        None,
        "Tokens for one server or workspace a day; unset or 0: no limit",
        "a whole number from 0",
        ge=0,
    )
    queue_questions: int = setting(
        "FOOTNOTE_QUEUE_QUESTIONS",
        1000,
        "Questions that may wait at once; further ones are declined",
        "a whole number from 1 to 100000",
        ge=1,
        le=100_000,
    )
    parallel_answers: int = setting(
        "FOOTNOTE_PARALLEL_ANSWERS",
        32,
        "Questions that are worked on at once",
        "a whole number from 1 to 1000",
        ge=1,
        le=1000,
    )
    retention_days: int | None = setting(
        "FOOTNOTE_RETENTION_DAYS",
        None,
        "Days after which questions are forgotten with their answers; unset: they are kept",
        "a whole number from 1",
        ge=1,
    )
    free_space_mb: int = setting(
        "FOOTNOTE_FREE_SPACE_MB",
        50,
        "Free disk space below which no question is accepted; 0: not looked at",
        "a whole number from 0",
        ge=0,
    )
    failpoint: str | None = setting(
        "FOOTNOTE_FAILPOINT",
        None,
        "For tests of faults alone: where this process kills itself, and at which visit",
        "a point and a number, as in settle.after:3",
        pattern=r"^[a-z_]+\.(before|after):[1-9][0-9]*$",
    )
    overlap_seconds: float = setting(
        "FOOTNOTE_OVERLAP_SECONDS",
        30.0,
        "How long a new process waits for the one before it to leave the data folder",
        "a number from 0 to 600",
        ge=0,
        le=600,
    )
    discord_bot_token: SecretStr | None = setting(
        "DISCORD_BOT_TOKEN", None, "Token of the Discord bot; unset: no Discord", "a token"
    )
    discord_api_base: Address = setting(
        "DISCORD_API_BASE",
        "https://discord.com/api/v10",
        "Address of Discord's API",
        ADDRESS_RULE,
    )
    discord_gateway_url: Address = setting(
        "DISCORD_GATEWAY_URL",
        "wss://gateway.discord.gg/",
        "Address of Discord's gateway",
        ADDRESS_RULE,
    )
    discord_staff: Pairs = setting(
        "DISCORD_STAFF",
        "",
        "Role that Ask a person calls, for each server",
        f"{PAIRS_RULE} SERVER:ROLE (both are ids)",
    )
    discord_admin_roles: Numbers = setting(
        "DISCORD_ADMIN_ROLES",
        "",
        "Roles that may use the admin commands beside those who manage the server",
        f"{NUMBERS_RULE} role ids",
    )
    discord_admin_channels: Pairs = setting(
        "DISCORD_ADMIN_CHANNELS",
        "",
        "Channel that is told what is missing, for each server",
        f"{PAIRS_RULE} SERVER:CHANNEL (both are ids)",
    )
    discord_reader_roles: ReaderRoles = setting(
        "DISCORD_READER_ROLES",
        None,
        "Roles that say what their members have and know",
        "comma-separated ROLE:tier1 to ROLE:tier4, or ROLE:A1 to ROLE:C2",
    )
    discord_allowed_bots: Numbers = setting(
        "DISCORD_ALLOWED_BOTS",
        "",
        "Bots and webhooks that are answered as people are",
        f"{NUMBERS_RULE} user or webhook ids",
    )
    discord_direct_messages: bool = setting(
        "DISCORD_DIRECT_MESSAGES", True, "Whether direct messages are answered", "true or false"
    )
    discord_commands: CommandPlace = setting(
        "DISCORD_COMMANDS",
        "global",
        "Where commands are registered: everywhere, or on named servers, which see changes at once",
        "global, or comma-separated server ids",
    )
    discord_shards: Shards = setting(
        "DISCORD_SHARDS",
        None,
        "Gateway connections; unset: one",
        "auto, or FIRST-LAST/COUNT for the part of this host",
    )
    slack_bot_token: SecretStr | None = setting(
        "SLACK_BOT_TOKEN", None, "Bot token of the Slack app; unset: no Slack", "xoxb-…"
    )
    slack_app_token: SecretStr | None = setting(
        "SLACK_APP_TOKEN", None, "App token for Slack's Socket Mode", "xapp-…"
    )
    slack_signing_secret: SecretStr | None = setting(
        "SLACK_SIGNING_SECRET",
        None,
        "Signing secret for Slack's events over HTTP at /slack/events",
        "a secret",
    )
    slack_api_base: Address = setting(
        "SLACK_API_BASE", "https://slack.com/api/", "Address of Slack's API", ADDRESS_RULE
    )
    slack_admin_users: SlackIds | None = setting(
        "SLACK_ADMIN_USERS",
        None,
        "Members who may use the admin commands beside the workspace's own admins; unset: nobody",
        "member ids (U…), separated by commas",
    )
    slack_ask_person: SlackIds | None = setting(
        "SLACK_ASK_PERSON",
        None,
        'Whom the button "Ask a person" tags in Slack; unset: no such button',
        "ids of members (U…) and user groups (S…), separated by commas",
    )
    slack_allowed_bots: SlackIds | None = setting(
        "SLACK_ALLOWED_BOTS",
        None,
        "Other Slack bots whose questions are answered; unset: none",
        "ids of bots (B…), apps (A…) or members (U…), separated by commas",
    )
    slack_ask_command: CommandName = setting(
        "SLACK_ASK_COMMAND", "/ask", "Slack command for a private answer", COMMAND_RULE
    )
    slack_lookup_command: CommandName = setting(
        "SLACK_LOOKUP_COMMAND", "/lookup", "Slack command that finds passages", COMMAND_RULE
    )
    slack_house_command: CommandName = setting(
        "SLACK_HOUSE_COMMAND", "/footnote", "Slack command for everything else", COMMAND_RULE
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        "FOOTNOTE_LOG_LEVEL", "info", "Least level that is logged", "debug, info, warning or error"
    )
    log_format: Literal["human", "json"] | None = setting(
        "FOOTNOTE_LOG_FORMAT",
        None,
        "Form of a log line; unset: human on a terminal, else json",
        "human or json",
    )

    @model_validator(mode="wrap")
    @classmethod
    def _every_fault_at_once(cls, read: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        partners = list(missing_partners(read))
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
    def chat_model(self) -> Literal["openai", "quoting"]:
        has_openai = self.openai_api_key is not None or self.openai_base_url is not None
        return self.model or ("openai" if has_openai else "quoting")

    @property
    def listens_on(self) -> tuple[str, int]:
        """Host and port of the web door."""
        behind_a_router = self.port is not None and self.api_keys is not None
        host = self.web_host or ("0.0.0.0" if behind_a_router else "127.0.0.1")  # noqa: S104
        port = self.port if self.web_port is None else self.web_port
        return host, DEFAULT_WEB_PORT if port is None else port

    @property
    def allowed_job_folders(self) -> tuple[Path, ...]:
        named = (self.job_folders or "").split(",")
        return tuple(Path(folder.strip()).resolve() for folder in named if folder.strip())

    @property
    def allowed_fetch_hosts(self) -> tuple[str, ...]:
        named = (self.fetch_hosts or "").split(",")
        return tuple(host.strip() for host in named if host.strip())

    @property
    def database(self) -> str:
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{self.data_dir.resolve() / 'footnote.db'}"


def missing_partners(read: Mapping[str, object]) -> Iterable[str]:
    """Settings that need another one which is not there."""
    has = {name for name, value in read.items() if value not in (None, "")}
    if "SLACK_BOT_TOKEN" in has and not has & {"SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"}:
        yield (
            "SLACK_BOT_TOKEN is set, but neither SLACK_APP_TOKEN (Socket Mode) nor"
            " SLACK_SIGNING_SECRET (HTTP) is; set one of them."
        )
    if "SLACK_APP_TOKEN" in has and "SLACK_BOT_TOKEN" not in has:
        yield "SLACK_APP_TOKEN is set, but SLACK_BOT_TOKEN is not; set it too."
    if read.get("FOOTNOTE_MODEL") == "openai" and not has & {"OPENAI_API_KEY", "OPENAI_BASE_URL"}:
        yield (
            "FOOTNOTE_MODEL is 'openai', but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set;"
            " set one of them, or FOOTNOTE_MODEL=quoting."
        )
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


def read_settings(env_file: Path | None = Path(".env")) -> Settings:
    """The settings, or one ConfigurationError that names every fault."""
    return Settings(_env_file=env_file)  # type: ignore[call-arg]  # the base class takes it


def variables() -> Mapping[str, FieldInfo]:
    """Every setting by the name of its environment variable."""
    return by_variable(Settings.model_fields)
