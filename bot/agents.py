"""The agent as the settings want it."""

from __future__ import annotations

from pathlib import Path

from bot.calibration import estimate_for
from bot.settings import Settings
from rag_core.agent.confidence.judgement import Judge
from rag_core.agent.confidence.profiles import profile_named
from rag_core.agent.config import AgentConfig
from rag_core.agent.prompts import SYSTEM_PROMPT
from rag_core.agent.verification.model import ModelVerifier
from rag_core.ports import ChatModel, Reader, Verifier


def agent_config(settings: Settings) -> AgentConfig:
    prompt = settings.agent_system_prompt_file
    return AgentConfig(
        model=settings.openai_model,
        max_turns=settings.agent_max_turns,
        profile=settings.confidence_profile,
        system_prompt=prompt.read_text(encoding="utf-8") if prompt else SYSTEM_PROMPT,
        temperature=settings.agent_temperature,
        max_tokens=settings.agent_max_tokens,
        top_k=settings.agent_top_k,
        score_threshold=settings.agent_score_threshold,
        answer_seconds=settings.answer_seconds,
        rewrites=settings.chat_model != "quoting",
    )


def judge_of(settings: Settings, folder: Path, *, embedder: str, reader: Reader) -> Judge:
    """Judges by the profile that the settings name, with the cut-offs measured for this embedder
    and this reader."""
    estimate = estimate_for(folder, embedder=embedder, reader=reader.name)
    profile = profile_named(settings.confidence_profile, estimate)
    return Judge(reader=reader, profile=profile)


def verifier_of(settings: Settings, model: ChatModel | None) -> Verifier | None:
    """What reads the claims of an answer; None: code alone compares them."""
    if model is None or settings.answer_verifier != "model":
        return None
    return ModelVerifier(model)
