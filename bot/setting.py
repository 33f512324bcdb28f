"""One setting: an environment variable with its default, its meaning and its bounds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from rag_core.books.book import BOOK_ID
from rag_core.websites.address import parsed

HOST = re.compile(r"[A-Za-z0-9.:_%-]+")
DATABASES = ("sqlite", "sqlite+aiosqlite", "postgresql", "postgresql+asyncpg", "postgres")


def checked_address(address: str) -> str:
    """An https address, or an http one on this machine; ends with a slash."""
    return checked(address, sealed="https", plain="http")


def checked_socket(address: str) -> str:
    """A wss address, or a ws one on this machine; ends with a slash."""
    return checked(address, sealed="wss", plain="ws")


def checked(address: str, *, sealed: str, plain: str) -> str:
    parts = urlsplit(address)
    if not parts.hostname or parts.scheme not in {sealed, plain}:
        raise ValueError("not an address")
    if parts.scheme == plain and not is_loopback(parts.hostname):
        raise ValueError(f"needs {sealed} unless it is on this machine")
    return address if address.endswith("/") else address + "/"


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def checked_host(host: str) -> str:
    if not HOST.fullmatch(host):
        raise ValueError("not a host name or address")
    return host


def checked_book(book_id: str) -> str:
    if not BOOK_ID.fullmatch(book_id):
        raise ValueError("not a book id")
    return book_id


def checked_books(listed: str) -> str:
    """Ids of books, separated by commas."""
    for book_id in ids_in(listed):
        checked_book(book_id)
    return listed


def checked_database(url: SecretStr) -> SecretStr:
    if urlsplit(url.get_secret_value()).scheme not in DATABASES:
        raise ValueError("not a database address")
    return url


def checked_prompt(path: Path) -> Path:
    try:
        has_text = path.is_file() and path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ValueError("not a file that can be read") from error
    if not has_text:
        raise ValueError("not a file with text")
    return path


def checked_ids(listed: str) -> str:
    """Ids of Slack's members, user groups, bots or apps, separated by commas."""
    if not all(SLACK_ID.fullmatch(each) for each in ids_in(listed)):
        raise ValueError("not ids")
    return listed


def checked_workspaces(listed: str) -> str:
    if not all(WORKSPACE_ID.fullmatch(each) for each in ids_in(listed)):
        raise ValueError("not ids of workspaces")
    return listed


def checked_keys(keys: SecretStr) -> SecretStr:
    """Keys of 32 bytes in base64, separated by commas."""
    listed = ids_in(keys.get_secret_value())
    if not listed or not all(KEY.fullmatch(key) for key in listed):
        raise ValueError("not keys")
    return keys


def ids_in(listed: str | None) -> tuple[str, ...]:
    return tuple(each.strip() for each in (listed or "").split(",") if each.strip())


SLACK_ID = re.compile(r"[UWSBA][A-Z0-9]{2,30}")
WORKSPACE_ID = re.compile(r"T[A-Z0-9]{2,30}")
KEY = re.compile(r"[A-Za-z0-9+/_-]{43}=")


def checked_hosts(hosts: str) -> str:
    """Host names or addresses, each with a port or without."""
    for host in filter(None, (each.strip() for each in hosts.split(","))):
        address = parsed(f"http://{host}/")
        if address.target != "/":
            raise ValueError("not a host")
    return hosts


ADDRESS_RULE = "an https:// address, or an http:// one on loopback"
SOCKET_RULE = "a wss:// address, or a ws:// one on loopback"
Address = Annotated[str, AfterValidator(checked_address)]
SocketAddress = Annotated[str, AfterValidator(checked_socket)]
Host = Annotated[str, AfterValidator(checked_host)]
Hosts = Annotated[str, AfterValidator(checked_hosts)]
BookName = Annotated[str, AfterValidator(checked_book)]
BookNames = Annotated[str, AfterValidator(checked_books)]
DatabaseUrl = Annotated[SecretStr, AfterValidator(checked_database)]
SlackIds = Annotated[str, AfterValidator(checked_ids)]
WorkspaceIds = Annotated[str, AfterValidator(checked_workspaces)]
SecretKeys = Annotated[SecretStr, AfterValidator(checked_keys)]
CommandName = Annotated[str, Field(pattern=r"^/[a-z0-9_-]{1,31}$")]
PromptFile = Annotated[Path, AfterValidator(checked_prompt)]


def setting(variable: str, default: Any, about: str, allowed: str, **bounds: Any) -> Any:
    """One environment variable: its name, its default, what it is for, what it may be."""
    return Field(
        default,
        validation_alias=variable,
        description=about,
        json_schema_extra={"allowed": allowed},
        **bounds,
    )


def by_variable(fields: Mapping[str, FieldInfo]) -> Mapping[str, FieldInfo]:
    """The fields by the name of their environment variable."""
    return {str(field.validation_alias): field for field in fields.values()}


def faults(error: ValidationError, fields: Mapping[str, FieldInfo]) -> Iterable[str]:
    """One line for each fault: the variable, what was read, what is allowed."""
    named = by_variable(fields)
    for detail in error.errors():
        variable = str(detail["loc"][0])
        field = named[variable]
        yield f"{variable} is {shown(detail['input'], field)}; allowed: {allowed(field)}."


def allowed(field: FieldInfo) -> str:
    extra = field.json_schema_extra
    assert isinstance(extra, dict)
    return str(extra["allowed"])


def is_secret(field: FieldInfo) -> bool:
    return "SecretStr" in str(field.annotation)


def shown(read: object, field: FieldInfo) -> str:
    """What was read, unless it is a secret."""
    return "set to a value that is not shown" if is_secret(field) else repr(str(read))
