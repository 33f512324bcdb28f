"""Where the house lives: its folder, its database, its web door, its logs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, SecretStr

from bot.setting import (
    ADDRESS_RULE,
    Address,
    BookName,
    BookNames,
    DatabaseUrl,
    Host,
    Hosts,
    SecretKeys,
    setting,
)
from rag_core.books.book import BOOK_ID_RULE


class HouseSettings(BaseModel):
    """Where the house lives: its folder, its database, its web door, its logs."""

    env_file: Path | None = setting(
        "FOOTNOTE_ENV_FILE",
        None,
        "File with these settings (.env), read again at SIGHUP; the environment comes first",
        "a readable file; this one is named in the environment only",
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
    closed_books: BookNames | None = setting(
        "FOOTNOTE_CLOSED_BOOKS",
        None,
        "Books that are neither read nor named in a chat, except in places that the operator bound"
        " to them (`footnote books bind` or dashboard), not even as the default; unset: none",
        f"book ids, separated by commas; each one: {BOOK_ID_RULE}",
    )
    web_host: Host | None = setting(
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
    secret_keys: SecretKeys | None = setting(
        "FOOTNOTE_SECRET_KEYS",
        None,
        "Keys that seal tokens in the database; the first one seals, all of them open",
        "keys of 32 bytes in base64, the newest first, separated by commas",
    )
    api_keys: SecretStr | None = setting(
        "FOOTNOTE_API_KEYS",
        None,
        "API keys of the web door; unset: this computer only, with the local key that"
        " `footnote open` signs you in with",
        "comma-separated KEY[:SCOPE[:BOOK|BOOK…]], scope ask, read or admin",
    )
    open_loopback: bool = setting(
        "FOOTNOTE_OPEN_LOOPBACK",
        False,
        "For development: serve this computer without any key. Every local account, and whatever"
        " forwards to the port, is an admin then",
        "true or false; not with FOOTNOTE_API_KEYS, FOOTNOTE_PUBLIC_URL or Slack over HTTP",
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
        "a secret of at least 16 characters; while it is exchanged the new and the old one,"
        " separated by a comma",
        min_length=16,
    )
    overlap_seconds: float = setting(
        "FOOTNOTE_OVERLAP_SECONDS",
        30.0,
        "How long a new process waits for the one before it to leave the data folder",
        "a number from 0 to 600",
        ge=0,
        le=600,
    )
    free_space_mb: int = setting(
        "FOOTNOTE_FREE_SPACE_MB",
        50,
        "Free disk space below which no question is accepted; 0: not looked at",
        "a whole number from 0",
        ge=0,
    )
    staff_answer_days: int = setting(
        "FOOTNOTE_STAFF_ANSWER_DAYS",
        180,
        "Days for which a kept answer of the staff is found",
        "a whole number from 1 to 3650",
        ge=1,
        le=3650,
    )
    retention_days: int | None = setting(
        "FOOTNOTE_RETENTION_DAYS",
        None,
        "Days after which questions are forgotten with their answers; unset: they are kept",
        "a whole number from 1",
        ge=1,
    )
    failpoint: str | None = setting(
        "FOOTNOTE_FAILPOINT",
        None,
        "For tests of faults alone: where this process kills itself, and at which visit",
        "a point and a number, as in settle.after:3",
        pattern=r"^[a-z_]+\.(before|after):[1-9][0-9]*$",
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
