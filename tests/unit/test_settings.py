"""Settings are read once, checked together, and never show a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.chat_endpoint import endpoint_of
from bot.settings import Settings, read_settings, variables
from bot.settings_reference import example, with_table
from rag_core.errors import ConfigurationError

ROOT = Path(__file__).parents[2]
SECRETS = {
    "OPENAI_API_KEY": "sk-seeded-1",
    "COHERE_API_KEY": "seeded-2",
    "QDRANT_API_KEY": "seeded-3",
    "DISCORD_BOT_TOKEN": "seeded-4",
    "SLACK_BOT_TOKEN": "xoxb-seeded-5",
    "SLACK_APP_TOKEN": "xapp-seeded-6",
    "SLACK_SIGNING_SECRET": "seeded-7",
    "FOOTNOTE_API_KEYS": "seeded-8:admin",
    "DATABASE_URL": "postgresql://me:seeded-9@host/footnote",
}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in variables():
        monkeypatch.delenv(variable, raising=False)


def read(monkeypatch: pytest.MonkeyPatch, **values: str) -> Settings:
    for variable, value in values.items():
        monkeypatch.setenv(variable, value)
    return read_settings(env_file=None)


def fault_in(monkeypatch: pytest.MonkeyPatch, **values: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read(monkeypatch, **values)
    return str(caught.value)


def test_without_any_setting_everything_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read(monkeypatch)
    assert settings.chat_model == "quoting"
    assert settings.listens_on == ("127.0.0.1", 8080)
    assert settings.database.startswith("sqlite:///")


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+asyncpg"])
def test_a_database_address_may_name_its_driver(
    monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    address = f"{scheme}://me:secret@host/footnote"
    assert read(monkeypatch, DATABASE_URL=address).database == address
    with pytest.raises(ConfigurationError, match="DATABASE_URL"):
        read(monkeypatch, DATABASE_URL="mysql://me@host/footnote")


def test_all_faults_are_named_together(monkeypatch: pytest.MonkeyPatch) -> None:
    text = fault_in(
        monkeypatch,
        FOOTNOTE_WEB_PORT="many",
        AGENT_TOP_K="11",
        FOOTNOTE_DEFAULT_BOOK="No Such",
        SLACK_BOT_TOKEN="xoxb-1",
        FOOTNOTE_EMBEDDER="cohere",
    )
    assert len(text.splitlines()) == 5
    assert "FOOTNOTE_WEB_PORT is 'many'; allowed: a whole number from 0 to 65535" in text
    assert "AGENT_TOP_K is '11'; allowed: a whole number from 1 to 10" in text
    assert "FOOTNOTE_DEFAULT_BOOK is 'No Such'" in text
    assert "SLACK_APP_TOKEN" in text
    assert "COHERE_API_KEY" in text


SEVERAL = {
    "SLACK_CLIENT_ID": "1.2",
    "SLACK_CLIENT_SECRET": "seeded-client",
    "SLACK_SIGNING_SECRET": "seeded-sign",
    "FOOTNOTE_PUBLIC_URL": "https://bot.example",
    "FOOTNOTE_SECRET_KEYS": f"{'A' * 43}=, {'-_+/' * 10}abc=",
}


def test_an_app_for_several_workspaces_names_all_that_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = read(monkeypatch, **SEVERAL)
    assert settings.slack_client_id == "1.2"
    for missing in SEVERAL.keys() - {"SLACK_CLIENT_ID"}:
        given = {name: value for name, value in SEVERAL.items() if name != missing}
        for name in SEVERAL:
            monkeypatch.delenv(name, raising=False)
        text = fault_in(monkeypatch, **given)
        assert missing in text
        assert "seeded" not in text
    text = fault_in(monkeypatch, **SEVERAL, SLACK_BOT_TOKEN="xoxb-seeded")
    assert "unset one of them" in text


@pytest.mark.parametrize("keys", ["short", "A" * 44, f"{'A' * 43}=,x", ","])
def test_a_key_that_is_none_is_not_shown(monkeypatch: pytest.MonkeyPatch, keys: str) -> None:
    text = fault_in(monkeypatch, **SEVERAL | {"FOOTNOTE_SECRET_KEYS": keys})
    assert "FOOTNOTE_SECRET_KEYS is set to a value that is not shown" in text
    text = fault_in(monkeypatch, **SEVERAL | {"SLACK_WORKSPACES": "E0ORG"})
    assert "SLACK_WORKSPACES is 'E0ORG'" in text


@pytest.mark.parametrize(
    ("variable", "below", "lowest", "highest", "above"),
    [
        ("AGENT_TOP_K", "0", "1", "10", "11"),
        ("AGENT_SCORE_THRESHOLD", "-0.1", "0", "1", "1.1"),
        ("AGENT_MAX_TURNS", "0", "1", "1000", "1001"),
        ("AGENT_TEMPERATURE", "-0.1", "0", "1", "1.1"),
        ("FOOTNOTE_ANSWER_SECONDS", "4", "5", "600", "601"),
        ("FOOTNOTE_WEB_PORT", "-1", "0", "65535", "65536"),
    ],
)
def test_bounds_hold_at_both_ends(
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    below: str,
    lowest: str,
    highest: str,
    above: str,
) -> None:
    for inside in (lowest, highest):
        read(monkeypatch, **{variable: inside})
    for outside in (below, above):
        assert f"{variable} is '{outside}'" in fault_in(monkeypatch, **{variable: outside})


def test_secrets_show_in_no_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read(monkeypatch, **SECRETS)
    shown = f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    assert "seeded" not in shown


def test_a_wrong_secret_is_not_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    text = fault_in(monkeypatch, DATABASE_URL="mysql://me:seeded@host/name")
    assert "DATABASE_URL" in text
    assert "seeded" not in text


def test_plain_addresses_are_for_loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read(monkeypatch, OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert settings.openai_base_url == "http://127.0.0.1:9/v1/"
    text = fault_in(monkeypatch, OPENAI_BASE_URL="http://model.example/v1")
    assert "OPENAI_BASE_URL is 'http://model.example/v1'" in text


@pytest.mark.parametrize(
    ("variable", "address"),
    [
        ("OPENAI_BASE_URL", "wss://model.example"),
        ("OPENAI_BASE_URL", "http://127.model.example"),
        ("OPENAI_BASE_URL", "model.example"),
        ("QDRANT_URL", "ws://127.0.0.1:6333"),
        ("DISCORD_GATEWAY_URL", "https://gateway.example"),
        ("DISCORD_GATEWAY_URL", "ws://gateway.example"),
        ("FOOTNOTE_WEB_HOST", "two words"),
        ("FOOTNOTE_WEB_HOST", "http://127.0.0.1"),
    ],
)
def test_an_address_of_another_kind_is_refused(
    monkeypatch: pytest.MonkeyPatch, variable: str, address: str
) -> None:
    assert f"{variable} is {address!r}; allowed: a" in fault_in(monkeypatch, **{variable: address})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "localhost", "fe80::1%eth0", "my-host.example"])
def test_every_form_of_a_host_is_one(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    assert read(monkeypatch, FOOTNOTE_WEB_HOST=host).listens_on == (host, 8080)


def test_instructions_that_cannot_be_read_name_their_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, encoding: str) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "prompt.txt").touch()
    monkeypatch.setattr(Path, "read_text", refused)
    for file in (tmp_path / "prompt.txt", tmp_path, tmp_path / "nowhere", tmp_path / ("n" * 300)):
        text = fault_in(monkeypatch, AGENT_SYSTEM_PROMPT_FILE=str(file))
        assert text.startswith(f"AGENT_SYSTEM_PROMPT_FILE is '{file}'; allowed: a readable file")
        assert len(text.splitlines()) == 1


def test_a_wrong_api_key_is_told_with_all_other_faults_and_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = "seeded-1:read, seeded-2:superuser, seeded-3:ask:No Book"
    lines = fault_in(monkeypatch, FOOTNOTE_API_KEYS=keys, AGENT_TOP_K="0").splitlines()
    assert [line.partition(" ")[0] for line in lines] == [
        "AGENT_TOP_K",
        "FOOTNOTE_API_KEYS:",
        "FOOTNOTE_API_KEYS:",
    ]
    assert "superuser" in lines[1]
    assert "ask, read, admin" in lines[1]
    assert "seeded" not in "".join(lines)


def test_an_address_makes_the_model_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(monkeypatch, OPENAI_BASE_URL="http://localhost:9").chat_model == "openai"


@pytest.mark.parametrize(
    ("settings", "model", "address", "key"),
    [
        ({"OPENAI_API_KEY": "k"}, "gpt-4o-mini", "api.openai.com/v1/", "k"),
        (
            {"FOOTNOTE_MODEL": "anthropic", "ANTHROPIC_API_KEY": "a", "OPENAI_MODEL": "claude-x"},
            "claude-x", "api.anthropic.com/v1/", "a",
        ),
        (
            {"FOOTNOTE_MODEL": "gemini", "GEMINI_API_KEY": "g", "OPENAI_MODEL": "gemini-x",
             "OPENAI_API_KEY": "for the embedder"},
            "gemini-x", "generativelanguage.googleapis.com/v1beta/openai/", "g",
        ),
        ({"FOOTNOTE_MODEL": "ollama", "OPENAI_MODEL": "qwen3"}, "qwen3", "127.0.0.1:11434/v1/", ""),
        (
            {"FOOTNOTE_MODEL": "ollama", "OPENAI_MODEL": "qwen3",
             "OPENAI_BASE_URL": "https://ollama.example.com/v1", "OPENAI_API_KEY": "o"},
            "qwen3", "ollama.example.com/v1/", "o",
        ),
        (
            {"FOOTNOTE_MODEL": "azure", "AZURE_OPENAI_ENDPOINT": "https://me.openai.azure.com",
             "AZURE_OPENAI_DEPLOYMENT": "gpt", "OPENAI_API_VERSION": "2024-10-21",
             "AZURE_OPENAI_API_KEY": "z"},
            "gpt", "me.openai.azure.com/openai/deployments/gpt/", "z",
        ),
    ],
)  # fmt: skip
def test_a_preset_names_the_address_of_its_vendor(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], model: str, address: str, key: str
) -> None:
    endpoint = endpoint_of(read(monkeypatch, **settings))
    assert (endpoint.model, endpoint.api_key) == (model, key)
    assert endpoint.base_url.split("://")[1] == address


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        ({"FOOTNOTE_MODEL": "anthropic", "OPENAI_MODEL": "x"}, ["ANTHROPIC_API_KEY"]),
        (
            {"FOOTNOTE_MODEL": "gemini", "OPENAI_API_KEY": "not Google's"},
            ["GEMINI_API_KEY", "OPENAI_MODEL"],
        ),
        ({"FOOTNOTE_MODEL": "ollama"}, ["OPENAI_MODEL"]),
        (
            {"FOOTNOTE_MODEL": "azure", "AZURE_OPENAI_ENDPOINT": "https://me.openai.azure.com"},
            ["AZURE_OPENAI_DEPLOYMENT", "OPENAI_API_VERSION", "AZURE_OPENAI_API_KEY"],
        ),
        (
            {"FOOTNOTE_MODEL": "ollama", "OPENAI_MODEL": "x", "FOOTNOTE_EMBEDDER": "openai",
             "OPENAI_BASE_URL": "https://one.example.com"},
            ["FOOTNOTE_EMBEDDER=openai"],
        ),
    ],
)  # fmt: skip
def test_a_preset_says_what_it_misses(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], missing: list[str]
) -> None:
    lines = fault_in(monkeypatch, **settings).splitlines()
    assert len(lines) == len(missing)
    assert all(name in line for name, line in zip(missing, lines, strict=True))


def test_an_assigned_port_opens_to_all_only_with_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(monkeypatch, PORT="5000").listens_on == ("127.0.0.1", 5000)
    keyed = {"PORT": "5000", "FOOTNOTE_API_KEYS": "seeded-key:ask"}
    assert read(monkeypatch, **keyed).listens_on == ("0.0.0.0", 5000)
    assert read(monkeypatch, FOOTNOTE_WEB_PORT="6000", **keyed).listens_on == ("0.0.0.0", 6000)


def test_an_empty_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(monkeypatch, FOOTNOTE_WEB_PORT="").listens_on == ("127.0.0.1", 8080)


def test_the_env_file_is_read_and_the_environment_wins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / ".env"
    file.write_text("AGENT_TOP_K=3\nAGENT_MAX_TURNS=7\nUNRELATED=1\n", encoding="utf-8")
    monkeypatch.setenv("AGENT_TOP_K", "4")
    settings = read_settings(env_file=file)
    assert (settings.agent_top_k, settings.agent_max_turns) == (4, 7)


@pytest.mark.parametrize(
    "text",
    [
        "AGENT_TOP_K=3",
        "AGENT_TOP_K = '3'  # a remark",
        'export AGENT_TOP_K="3"',
        "\ufeffAGENT_TOP_K=3",
        "# caf\u00e9\r\nAGENT_TOP_K=3\r\n",
    ],
)
def test_the_env_file_may_be_written_in_any_usual_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    file = tmp_path / ".env"
    file.write_bytes(text.encode())
    assert read_settings(env_file=file).agent_top_k == 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# caf\u00e9\nAGENT_TOP_K=3\n".encode("latin-1"), "is not text in UTF-8"),
        (b"AGENT_MAX_TURNS=7\nAGENT_TOP_K='3\n", "Line 2 of"),
    ],
)
def test_an_env_file_that_cannot_be_read_is_told_and_not_half_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: bytes, told: str
) -> None:
    file = tmp_path / ".env"
    file.write_bytes(text)
    with pytest.raises(ConfigurationError, match=told):
        read_settings(env_file=file)


def test_a_named_env_file_that_cannot_be_looked_for_is_told_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FOOTNOTE_ENV_FILE", "n" * 300)
    with pytest.raises(ConfigurationError, match=r"n cannot be read \(File name too long\)\.$"):
        read_settings()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("FOOTNOTE_CLOSED_BOOK=x", "FOOTNOTE_CLOSED_BOOK is no setting; FOOTNOTE_CLOSED_BOOKS is."),
        ("\ufeffslack_bot_tokn=a", "SLACK_BOT_TOKN is no setting; SLACK_BOT_TOKEN is."),
        ("FOOTNOTE_WEBPORT=9000", "FOOTNOTE_WEBPORT is no setting; FOOTNOTE_WEB_PORT is."),
        ("OPENAI_SEVENTH_WONDER=1", "OPENAI_SEVENTH_WONDER is no setting."),
        (
            "FOOTNOTE_ENV_FILE=a",
            "FOOTNOTE_ENV_FILE decides nothing in {}; set it in the environment.",
        ),
    ],
)
def test_a_name_in_the_env_file_that_decides_nothing_is_told_with_the_nearest_setting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, line: str, told: str
) -> None:
    file = tmp_path / ".env"
    file.write_text(f"{line}\nAGENT_TOP_K=3\n", encoding="utf-8")
    assert read_settings(env_file=file).agent_top_k == 3
    assert caplog.messages == [told.format(file)]


def test_names_of_other_programs_are_let_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / ".env"
    file.write_text("POSTGRES_PASSWORD=a\nDATABASE_NAME=b\nPORT=8000\nTZ=UTC\n", encoding="utf-8")
    monkeypatch.setenv("SLACK_WEBHOOK_OF_CI", "c")
    monkeypatch.setenv("FOOTNOTE_DEFALT_BOOK", "team")
    read_settings(env_file=file)
    assert caplog.messages == ["FOOTNOTE_DEFALT_BOOK is no setting; FOOTNOTE_DEFAULT_BOOK is."]


def test_a_closed_book_whose_id_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "FOOTNOTE_CLOSED_BOOKS is 'staff, Bad Name'; allowed: book ids" in fault_in(
        monkeypatch, FOOTNOTE_CLOSED_BOOKS="staff, Bad Name"
    )
    assert read(monkeypatch, FOOTNOTE_CLOSED_BOOKS="staff, exam,").books_closed == {"staff", "exam"}


def test_settings_do_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="frozen"):
        read(monkeypatch).agent_top_k = 2


def test_example_and_readme_say_what_the_code_reads() -> None:
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == example()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme == with_table(readme)
    assert all(variable in readme for variable in variables())


def test_an_example_that_is_uncommented_is_valid(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = example().splitlines()
    file = tmp_path / ".env"
    uncommented = [line[1:] for line in lines if line.startswith("#") and line[1:2].isupper()]
    file.write_text("\n".join(uncommented), encoding="utf-8")
    assert read_settings(env_file=file) == read_settings(env_file=None)


@pytest.mark.parametrize(
    "partner",
    [
        {"FOOTNOTE_PUBLIC_URL": "https://docs.example/"},
        {"FOOTNOTE_API_KEYS": "a-key-of-the-library:ask"},
        {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "s" * 32},
    ],
)
@pytest.mark.parametrize("value", ["true", "1", "Yes"])
def test_an_open_loopback_goes_with_nothing_that_others_come_by(
    monkeypatch: pytest.MonkeyPatch, value: str, partner: dict[str, str]
) -> None:
    said = fault_in(monkeypatch, FOOTNOTE_OPEN_LOOPBACK=value, **partner)
    assert "FOOTNOTE_OPEN_LOOPBACK" in said
    assert list(partner)[-1] in said
