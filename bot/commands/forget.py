"""footnote forget: a person's questions and answers, gone from tables, logs and caches."""

from __future__ import annotations

from bot.output import notices, print_json, terminal
from bot.reach import reach
from bot.settings import read_settings


async def forget(platform: str, *, user: str | None, tenant: str | None, as_json: bool) -> int:
    """The house does it: the running one, or one opened for the occasion."""
    wanted = {"platform": platform, "user": user, "tenant": tenant}
    async with reach(read_settings()) as house:
        with notices().status("Forgetting…"):
            done = await house.post("/forget", {k: v for k, v in wanted.items() if v})
    if as_json:
        print_json(done)
    else:
        terminal().print(f"Forgotten: {done['questions']} questions with their answers.")
    return 0
