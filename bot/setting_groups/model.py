"""Who writes the answers, what finds the passages, and how an answer is made."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, SecretStr

from bot.setting import ADDRESS_RULE, Address, PromptFile, setting

ChatModelName = Literal["openai", "azure", "anthropic", "gemini", "ollama", "quoting"]


class ModelSettings(BaseModel):
    """Who writes the answers, what finds the passages, and how an answer is made."""

    embedder: Literal["local", "cohere", "openai"] | None = setting(
        "FOOTNOTE_EMBEDDER",
        None,
        "What a new index is built with; unset: cohere with a Cohere key, else local",
        "local, cohere or openai",
    )
    model: ChatModelName | None = setting(
        "FOOTNOTE_MODEL",
        None,
        "Who writes the answers; unset: openai where OPENAI_API_KEY or OPENAI_BASE_URL is set,"
        " else quoting",
        "openai, azure, anthropic, gemini, ollama or quoting",
    )
    verifier: Literal["model", "code"] | None = setting(
        "FOOTNOTE_VERIFIER",
        None,
        "What checks each sentence of an answer against the passages: the language model reads"
        " them (one more request an answer), or code compares numbers, names and quotes alone;"
        " unset: model where a language model writes the answers",
        "model or code",
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
        "OPENAI_BASE_URL",
        None,
        "Any OpenAI-compatible server; unset: the address of the vendor that FOOTNOTE_MODEL names",
        ADDRESS_RULE,
    )
    openai_model: str = setting(
        "OPENAI_MODEL",
        "gpt-4o-mini",
        "Chat model; anthropic, gemini and ollama need it",
        "a model's name",
        min_length=1,
    )
    anthropic_api_key: SecretStr | None = setting(
        "ANTHROPIC_API_KEY", None, "Key where FOOTNOTE_MODEL is anthropic", "a key"
    )
    gemini_api_key: SecretStr | None = setting(
        "GEMINI_API_KEY", None, "Key where FOOTNOTE_MODEL is gemini", "a key"
    )
    azure_openai_api_key: SecretStr | None = setting(
        "AZURE_OPENAI_API_KEY", None, "Key where FOOTNOTE_MODEL is azure", "a key"
    )
    azure_openai_endpoint: Address | None = setting(
        "AZURE_OPENAI_ENDPOINT",
        None,
        "Azure resource, as in https://NAME.openai.azure.com/",
        ADDRESS_RULE,
    )
    azure_openai_deployment: str | None = setting(
        "AZURE_OPENAI_DEPLOYMENT",
        None,
        "Deployment of the chat model at Azure",
        "a deployment's name: letters, digits, '.', '_' and '-'",
        pattern=r"^[A-Za-z0-9._-]{1,64}$",
    )
    openai_api_version: str | None = setting(
        "OPENAI_API_VERSION",
        None,
        "api-version of the Azure resource",
        "a version such as 2024-10-21",
        pattern=r"^\d{4}-\d{2}-\d{2}(?:-preview)?$",
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
