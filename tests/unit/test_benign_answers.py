"""A thousand answers with code, tables and lists come through check and guard as they are."""

from __future__ import annotations

import itertools
import re

from rag_core.agent.checks.guard import guarded
from tests.fakes.checked_drafts import check, passages
from tests.markdown_spans import code_spans

SNIPPETS = (
    ("python", "import os\n\nprint(os.environ['HOME'], \"<@id>\", [1, 2][0])"),
    ("bash", "curl -s https://api.example/v1?a=b | jq '.[0]' && echo @everyone"),
    ("javascript", "const a = b => `${b}[0]`;\nif (a < 3 && b > 4) { c['x'](1) }"),
    ("sql", "SELECT name FROM members WHERE id <> 3 AND note LIKE '%[1]%';"),
    ("html", '<a href="https://a.example">x</a> <img src="y.png"> <!-- z -->'),
    ("yaml", "on: [push, pull_request]\nsteps:\n  - run: make test # [1] `x`"),
    ("rust", 'fn main() { let v: Vec<&str> = vec!["a"]; println!("{:?}", v[0]); }'),
    ("json", '{"role": "user", "links": ["https://b.example/c"], "n": [1, 2]}'),
    ("markdown", "[label](https://c.example) ![image](d.png)\n\n# Title [1]"),
    ("c", "int main(void) { char *p = &a[0]; return *p < 'b' ? 0 : 1; }"),
    ("toml", '[tool.ruff]\nselect = ["E", "F"]'),
    ("diff", "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-a[1]\n+b[2]"),
    ("regex", r"^(?:<[@#!]\w+>|\[\d+\])$"),
    ("shell", 'docker run -p 80:80 -v $PWD:/x img:1.2 --flag="<none>"'),
    ("java", "List<String> a = new ArrayList<>(); a.get(0); // @here @Override"),
    ("go", "for i := range a[1:] { ch <- b[i] }"),
    ("latex", r"\frac{a}{b} \[ x_1 \] $y^2$"),
    ("powershell", "Get-ChildItem | Where-Object { $_.Length -gt 10 }"),
    ("kotlin", "val a: List<Int?> = listOf(1, 2)[0]?.let { it }"),
    ("text", "~~ not a fence ~~  **bold** _x_ \\[a\\] &lt; &amp;"),
)
LEADS = (
    "Use this in the workshop:", "Here is how the members do it:", "The handbook shows this way:",
    "Put this into the file:", "Then start the machine like this:",
)  # fmt: skip
FORMS = (
    "{lead}\n\n```{language}\n{code}\n```",
    "{lead} every member may upload ten files a day.\n\n```{language}\n{code}\n```\n\n"
    "Guests stay for 30 days.",
    "1. {lead}\n\n   ```{language}\n   {indented}\n   ```\n2. Guests stay for 30 days.",
    "> {lead}\n\n````{language}\n{code}\n````",
    "- Guests stay for 30 days.\n- {lead}\n\n```{language}\n{code}\n```",
    "{lead}\n\n| what | value |\n|---|---|\n| guests | 30 days |\n\n```{language}\n{code}\n```",
    "{lead}\n\n```{language}\n{code}\n```\n\n```\n{code}\n```",
    "## Members\n\n{lead}\n\n```{language}\n{code}\n```",
    "{lead}\n\n``` {language}\n{code}\n```\n\nשלום, and 👩\u200d💻 too.",
    "Call `a[0]`, `<@id>` and `x = [1]`. {lead}\n\n```{language}\n{code}\n```",
)


def answers() -> list[str]:
    return [
        form.format(
            lead=lead, language=language, code=code, indented=re.sub(r"\n(?=.)", "\n   ", code)
        )
        for (language, code), lead, form in itertools.product(SNIPPETS, LEADS, FORMS)
    ]


def test_there_are_a_thousand() -> None:
    assert len(set(answers())) >= 1_000


def test_the_guard_changes_nothing() -> None:
    changed = [text for text in answers() if guarded(text) != text]
    assert not changed, f"{len(changed)}: {changed[0]!r} became {guarded(changed[0])!r}"


def test_what_the_evidence_says_comes_through_the_check_with_its_code() -> None:
    lost = []
    for text in answers():
        result = check(guarded(text), passages(text))
        code = [span.text for span in code_spans(text) if span.is_code]
        if result.faults or not all(piece.strip("\n") in result.text for piece in code):
            lost.append((text, result.text, result.faults))
    assert not lost, f"{len(lost)} of {len(answers())}: {lost[0]}"
