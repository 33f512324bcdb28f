"""The files in deploy/ fit the program and each other, as far as this shows without containers."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.settings import variables

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DATA = "/var/lib/footnote/data"


@pytest.fixture(scope="module")
def steps() -> list[str]:
    """The instructions of the container file, each on one line."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def test_what_the_image_is_made_of_is_there_and_is_sent(steps: list[str]) -> None:
    rules = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sent = [rule[1:] for rule in rules if rule.startswith("!")]
    copied = [
        name
        for step in steps
        if step.startswith("COPY ") and "--from=" not in step
        for name in step.split()[1:-1]
    ]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert [name for name in copied if not any(fnmatch(name, rule) for rule in sent)] == []
    assert "*" in rules, "what is not named stays here: settings, data, environments"


def test_the_user_of_the_image_owns_its_data(steps: list[str]) -> None:
    """A new volume takes the owner of the folder that it covers, which must be there before."""
    made = next(n for n, step in enumerate(steps) if "--owner=footnote" in step and DATA in step)
    assert made < steps.index("USER footnote") < steps.index(f"VOLUME {DATA}")


def test_the_image_is_built_for_a_python_that_is_tested(steps: list[str]) -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    low, high = re.findall(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', project)[0]
    used = {int(minor) for step in steps for minor in re.findall(r"FROM python:3\.(\d+)", step)}
    assert used
    assert used <= set(range(int(low), int(high)))


def test_the_services_of_compose_share_what_they_speak_over(compose: Any) -> None:
    services = compose["services"]
    shared = {name for name, each in services.items() if each.get("network_mode")}
    assert {services[name]["network_mode"] for name in shared} == {"service:network"}
    assert set(services) - shared == {"network"}
    assert set(services["footnote"]["environment"]) <= set(variables())
    assert f"data:{DATA}" in services["footnote"]["volumes"]
    (port,) = services["network"]["ports"]
    assert port == "127.0.0.1:8080:8080"
    volumes = {
        volume.split(":")[0] for each in services.values() for volume in each.get("volumes", ())
    }
    assert {name for name in volumes if name.isalpha()} == set(compose["volumes"])


def test_a_variable_of_compose_is_told_where_it_is_set(compose: Any) -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    needed = set(re.findall(r"\$\{(\w+):\?", text))
    heading = text.partition("services:")[0]
    assert needed
    assert [name for name in needed if name not in heading] == []
    assert "--env-file" in heading, "the file is looked for beside compose.yaml otherwise"


def test_the_unit_names_settings_and_folders_that_fit() -> None:
    unit = (DEPLOY / "footnote.service").read_text(encoding="utf-8")
    named = dict(re.findall(r"^Environment=(\w+)=(\S+)$", unit, re.MULTILINE))
    assert set(named) <= set(variables())
    (folder,) = re.findall(r"^StateDirectory=(\w+)$", unit, re.MULTILINE)
    assert named["FOOTNOTE_DATA_DIR"] == f"/var/lib/{folder}"
