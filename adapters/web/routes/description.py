"""`/openapi.json`: what the web door takes and gives, for programs and their makers."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.responses import JSONResponse, Response

from adapters.web.documents.schemas import ProblemModel
from adapters.web.guarding.rules import OPEN

BEARER = {
    "type": "http",
    "scheme": "bearer",
    "description": "An access key.",
}


class Description:
    """The OpenAPI description, made at the first time of asking."""

    def __init__(self, app: FastAPI, *, keyed: bool) -> None:
        self._app = app
        self._keyed = keyed

    async def __call__(self) -> Response:
        document = self._app.openapi()
        schemas = document["components"]["schemas"]
        model = ProblemModel.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(model.pop("$defs", {}))
        schemas.setdefault("ProblemModel", model)
        drop_framework_errors(document)
        if self._keyed:
            name_keys(document)
        return JSONResponse(document)


def drop_framework_errors(document: dict[str, Any]) -> None:
    """The framework describes refusals of its own, which our addresses never give."""
    for path in document["paths"].values():
        for operation in path.values():
            refused = operation["responses"].get("422", {}).get("content", {})
            if "application/json" in refused:
                del operation["responses"]["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)


def name_keys(document: dict[str, Any]) -> None:
    """Every address asks for a key, but those by which the process is watched."""
    document["components"]["securitySchemes"] = {"key": BEARER}
    document["security"] = [{"key": []}]
    for path in OPEN & document["paths"].keys():
        for operation in document["paths"][path].values():
            operation["security"] = []
