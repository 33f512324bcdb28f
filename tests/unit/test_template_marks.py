"""Marks of site generators are carried out or gone, and the sentences around them still read."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.ingestion.loaders import Loader, load
from rag_core.ingestion.loaders.markdown import readable


def clean(text: str) -> str:
    return re.sub(r"\n{2,}", "\n\n", readable(text)).strip()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("{{< note >}}\nRest now.\n{{< /note >}}", "**Note:** Rest now."),
        ('{{% alert title="Mind this" color="warning" %}}\nRest.\n{{% /alert %}}',
         "**Mind this:** Rest."),
        ('{{< tabs >}}\n{{< tab name="Linux" >}}\nUse apt.\n{{< /tab >}}\n{{< /tabs >}}',
         "**Linux**\n\nUse apt."),
        ("{% tip %}\n```sh\nls\n```\n{% endtip %}", "**Tip:**\n\n```sh\nls\n```"),
        ("{% tip %}\n`ls` lists.\n{% endtip %}", "**Tip:** `ls` lists."),
        ("{{< callout type=\"tip\" >}}\nRest.\n{{< /callout >}}", "**Tip:** Rest."),
        ("Text.\n\n{{< youtube dQw4w9WgXcQ >}}\n\nMore.", "Text.\n\nMore."),
        ('{{< button text="Start" url="/start/" >}}', "[Start](/start/)"),
        ('Read [the guide]({{< relref "guide.md" >}}).', "Read [the guide](guide.md)."),
        ("{{< highlight go >}}\nx := {{ 1 }}\n{{< /highlight >}}", "```go\nx := {{ 1 }}\n```"),
        ("Write {{</* note */>}} before it.", "Write {{< note >}} before it."),
        ("{% note %}\n\nRest.\n\n{% endnote %}", "**Note:** Rest."),
        ("{% comment %}\nNot shown.\n{% endcomment %}\nText.", "Text."),
        ("{% raw %}Use {{ name }}.{% endraw %}", "Use {{ name }}."),
        ("Use `{% raw %}{{ name }}{% endraw %}`.", "Use `{{ name }}`."),
        ("{% highlight sh %}\nls\n{% endhighlight %}", "```sh\nls\n```"),
        ("{% for p in site.pages %}\n- [{{ p.title }}]({{ p.url }})\n{% endfor %}\nText.", "Text."),
        ("{% ifversion ghes %}Yours{% else %}GitHub{% endif %} keeps it.", "GitHub keeps it."),
        ("{% ifversion fpt or ghec %}Here{% elsif ghes %}There{% endif %}.", "Here."),
        ("{% if page.beta %}Beta: {% endif %}it works.", "Beta: it works."),
        ("Ask in {% slack_channel \"lab-help\" %}.", "Ask in lab-help."),
        ('Click {% octicon "gear" aria-label="the gear" %}, then wait.',
         "Click the gear, then wait."),
        ('Click {% octicon "gear" aria-label="the gear" %} **Settings**.', "Click **Settings**."),
        ("<?code-excerpt \"lib/main.dart\"?>\n```dart\nvoid main() {}\n```",
         "```dart\nvoid main() {}\n```"),
        ("{# for editors #}\nText.", "Text."),
    ],
)  # fmt: skip
def test_tags_are_read_as_the_site_shows_them(written: str, read: str) -> None:
    assert clean(written) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Version {{ site.version }} is out.", "Version is out."),
        ("Ask {% data variables.contact.support %}, not us.", "Ask, not us."),
        ("The tool ({{ site.tool }}) starts.", "The tool starts."),
        ("See [the list]({{ site.api }}/list.html) and [all]({{ site.baseurl }}/all/).",
         "See the list and [all](/all/)."),
        ("See [the list][l].\n\n[l]: {{site.api}}/list.html", "See the list."),
        ("- {{ one }}\n- two", "- two"),
        ("Pay {{ site.price }}.", "Pay."),
        ("![Plan]({{ site.images }}/plan.png)\n\nText.", "Plan\n\nText."),
    ],
)  # fmt: skip
def test_a_sentence_reads_on_where_a_value_is_not_known(written: str, read: str) -> None:
    assert clean(written) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("See {ref}`the rules <rules>` and {doc}`limits`.", "See the rules and limits."),
        ("See {ref}`opening-hours` and {term}`token`.", "See opening hours and token."),
        ("Call {func}`run` or :meth:`Arm.move <basil.Arm.move>`.", "Call `run` or `Arm.move`."),
        ("A fact {cite}`knuth1984`.", "A fact ."),
        ("See :ref:`the rules <rules>`. A :smile:`x`.", "See the rules. A :smile:`x`."),
        ("(hours)=\n## Hours", "## Hours"),
        ("![Plan](plan.png){width=50% #plan} Text {#here}.", "![Plan](plan.png) Text."),
        ("::: basil.Arm\n    options:\n      members: true\n\nText.", "`basil.Arm`\n\nText."),
        (":::{note} Mind\nRest.\n:::", "**Mind:** Rest."),
        ("```{toctree}\nintro\nend\n```\n\nText.", "Text."),
        ("::::::::: objectives\n- Move the arm.\n:::::::::", "**Objectives:**\n\n- Move the arm."),
        ("::: secondary\nRest.\n:::", "Rest."),
        (':::image type="content" source="a.png" alt-text="A plan":::\n\nText.', "Text."),
    ],
)  # fmt: skip
def test_roles_and_directives_are_their_words(written: str, read: str) -> None:
    assert clean(written) == read


@pytest.mark.parametrize(
    "mark",
    [
        "{{#include ../listing.rs:here}}",
        "{* ../../docs_src/app.py hl[2:4] *}",
        "{!> ../../docs_src/app.py !}",
        '--8<-- "limits.md"',
        "<<< @/snippets/app.js{2}",
        "```rust\n{{#rustdoc_include ../main.rs}}\n```",
        '```python hl_lines="1"\n{!../app.py!}\n```',
        '{% include "limits.md" %}',
        '{{% include "limits.md" %}}',
        "{% data reusables.pages.intro %}",
    ],
)
def test_an_include_of_what_is_not_there_leaves_nothing(mark: str) -> None:
    assert clean(f"Before.\n\n{mark}\n\nAfter.") == "Before.\n\nAfter."


@pytest.mark.parametrize(
    "text",
    [
        "Write `{{< note >}}` or `{% include x.html %}` or `{{ page.title }}`.",
        "```liquid\n{% include footer.html %}\n{{ page.title }}\n```",
        '```md\n--8<-- "limits.md"\n{{#include a.md}}\n```',
        "```yaml\nrun: ${{ secrets.TOKEN }}\n```",
        "In a workflow ${{ secrets.TOKEN }} is the token.",
        "$x^{{a}}$ and \\frac{{a}}{b} and {curly} words",
        "a {{b",
        "100 %} of it",
    ],
)
def test_marks_that_are_shown_stay(text: str) -> None:
    assert clean(text) == text


def test_a_title_has_no_marks_either() -> None:
    page = b"---\ntitle: About {% data variables.product %} tokens\n---\nTen a day.\n"
    assert load("a.md", page).fields["title"] == "About tokens"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Text.\n\n[Edit this page](https://x.example/edit/a.md)", "Text."),
        ("## Hours [edit](https://x.example/edit)\n\nTen.", "## Hours\n\nTen."),
        ("## Hours [[edit](https://x.example/edit)]\n\nTen.", "## Hours\n\nTen."),
        ("*Last updated: 3 May 2024 by Jo*\n\nText.", "Text."),
        ("[Home](/) > [Docs](/docs) > Limits\n\n# Limits\n\nTen.", "# Limits\n\nTen."),
        ("Ten.\n\n[← Previous](a.md) | [Next: Hours →](b.md)", "Ten."),
        ("# Limits\n\n*Written by [Jo](https://x.example/jo), May 2024*\n\nTen.",
         "# Limits\n\nTen."),
        ("# Basil\n\n[![Build](https://img.shields.io/b.svg)](https://ci.example)\n\nTen.",
         "# Basil\n\nTen."),
        ("Ten.\n\n[⬆ Back to top](#top)", "Ten."),
        ("Ten.\n\n© 2024 Basil Ltd. All rights reserved.", "Ten."),
        ("![Plan](data:image/png;base64,iVBORw0KGgo=)\n\nTen.", "Plan\n\nTen."),
    ],
)  # fmt: skip
def test_what_the_site_draws_around_its_text_goes(written: str, read: str) -> None:
    assert clean(written) == read


@pytest.mark.parametrize(
    "text",
    [
        "Edit this page to change the limit.",
        "To open it, choose **Settings** > **Limits**.",
        "Open [Settings](/s) and then [Limits](/l).",
        "The file was last updated in 2024, so its limits are old.",
        "Copyright 2024 is what the first line has to say.\n\nThen comes the text.",
        "# Team\n\nText.\n\nMore.\n\nEven more.\n\nWritten by hand, notes are fine.",
        "Press [Next](#next) to go on.",
        "![A badge that a pupil wears](images/pupil.png)",
    ],
)
def test_words_of_the_author_stay(text: str) -> None:
    assert clean(text) == text


PIECES = [
    "{{<",
    ">}}",
    "{{%",
    "%}}",
    "{%",
    "%}",
    "{{",
    "}}",
    "{#",
    "#}",
    " note ",
    "/note ",
    " raw ",
]
PIECES += [
    " endraw ",
    " if x ",
    " else ",
    " endif ",
    " for p in q ",
    " endfor ",
    "\n",
    "word ",
    "`",
    "```\n",
]
PIECES += ["[a](", ")", "{", "}", "{ref}`a`", "{!a!}", "--8<--", ":::", '"', "(a)=\n"]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_nothing_is_left_of_how_marks_are_worked_on(text: str) -> None:
    assert not re.search("[\ue000-\ue0ff]", readable(text))


@pytest.mark.parametrize(
    "piece", [*PIECES, "{{</*", "{% x ", "{{< x ", "{{ x ", "[Home](/) > ", "<?a ", "{{< note >}}"]
)
def test_marks_without_end_are_passed_in_their_time(piece: str) -> None:
    """A file of this size is read without a clock of its own."""
    with Loader() as loader:
        assert loader.load("a.md", (piece * (100_000 // len(piece))).encode()).is_markdown
