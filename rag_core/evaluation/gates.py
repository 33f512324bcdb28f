"""The least that a measurement must reach, for whoever lets a change through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.errors import ConfigurationError
from rag_core.evaluation.figures import FIGURES, Figure, shown
from rag_core.evaluation.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One figure, and the least that it must be."""

    figure: Figure
    least: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A gate, and what came to it."""

    gate: Gate
    value: float

    @property
    def is_open(self) -> bool:
        return self.value >= self.gate.least

    def __str__(self) -> str:
        figure, least = self.gate.figure, self.gate.least
        word = "reaches" if self.is_open else "is below"
        return f"{figure.name} ({figure.title}) was {shown(self.value)} and {word} {least:g}."


def gates_named(text: str) -> tuple[Gate, ...]:
    """`ndcg=0.8,answered=0.95` → gates."""
    return tuple(gate_named(each.strip()) for each in text.split(",")) if text else ()


def gate_named(text: str) -> Gate:
    name, _, least = text.partition("=")
    known = {figure.name: figure for figure in FIGURES}
    if name.strip() not in known:
        raise ConfigurationError(
            f"--at-least was {text!r}; it is NAME=LEAST, NAME one of {', '.join(known)}."
        )
    try:
        number = float(least)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise ConfigurationError(
            f"--at-least was {text!r}; after {name.strip()}= comes a number from 0 to 1."
        )
    return Gate(figure=known[name.strip()], least=number)


def passages(gates: Sequence[Gate], run: Run) -> list[Passage]:
    """How the run stands at each gate. A figure that nobody measured lets nothing through."""
    return [Passage(gate=gate, value=measured(gate.figure, run)) for gate in gates]


def measured(figure: Figure, run: Run) -> float:
    value = figure.of(run)
    if value is None:
        raise ConfigurationError(
            f"--at-least names {figure.name}, and {run.question_set} has no figure for it:"
            f" {figure.tells}."
        )
    return value
