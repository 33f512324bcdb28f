"""Hands a route the caller that the guard let in."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from adapters.web.guarding.caller import Caller


def admitted(request: Request) -> Caller:
    caller = request.state.caller
    assert isinstance(caller, Caller)
    return caller


CallerOf = Annotated[Caller, Depends(admitted)]
