"""`/openapi.json`: what the web door takes and gives, for programs and their makers."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.responses import JSONResponse, Response

from adapters.web.schemas import ProblemModel


class Description:
    """The OpenAPI description, made at the first time of asking."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    async def __call__(self) -> Response:
        document = self._app.openapi()
        schemas = document["components"]["schemas"]
        model = ProblemModel.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(model.pop("$defs", {}))
        schemas.setdefault("ProblemModel", model)
        drop_framework_errors(document)
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
