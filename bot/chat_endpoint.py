"""Which endpoint the settings name for the language model."""

from __future__ import annotations

from pydantic import SecretStr

from bot.chat_presets import PRESETS
from bot.settings import Settings
from rag_core.providers.chat.endpoint import Endpoint, azure_endpoint, openai_endpoint


def endpoint_of(settings: Settings) -> Endpoint:
    """The endpoint of the language model; the settings have been checked for what it needs."""
    own = plain(settings.openai_api_key)
    if settings.chat_model == "azure":
        return azure_endpoint(
            endpoint=settings.azure_openai_endpoint or "",
            deployment=settings.azure_openai_deployment or "",
            api_version=settings.openai_api_version or "",
            api_key=plain(settings.azure_openai_api_key),
        )
    preset = PRESETS.get(settings.chat_model)
    if preset is None:
        return openai_endpoint(
            model=settings.openai_model, api_key=own, base_url=settings.openai_base_url
        )
    keys = {"anthropic": settings.anthropic_api_key, "gemini": settings.gemini_api_key}
    elsewhere = own if settings.openai_base_url else ""
    return Endpoint(
        model=settings.openai_model,
        api_key=plain(keys.get(settings.chat_model)) or elsewhere,
        base_url=settings.openai_base_url or preset.url,
        habits=preset.habits,
    )


def plain(value: SecretStr | None) -> str:
    return value.get_secret_value() if value else ""
