"""Markdown and MDX are read as their pages show them."""

from __future__ import annotations

import codecs
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.errors import IngestionError
from rag_core.ingestion.loaders import Loader, load
from rag_core.ingestion.loaders.markdown import (
    CODE,
    readable,
    with_code_replaced,
    without_classes,
)


def clean(text: str, *, is_mdx: bool = False) -> str:
    return readable(text, is_mdx=is_mdx).strip()


@pytest.mark.parametrize(
    ("note", "read"),
    [
        (":::tip\n\nRest now.\n\n:::", "**Tip:** Rest now."),
        (":::note[Good *to* know]\nRest now.\n:::", "**Good to know:** Rest now."),
        (":::warning Mind this\n:::note\nRest.\n:::\n:::", "**Mind this**\n\n**Note:** Rest."),
        ('!!! note "Know this"\n    Rest.\n\n    ```sh\n    ls\n    ```\nAfter.',
         "**Know this:** Rest.\n\n```sh\nls\n```\n\nAfter."),
        ("??? question\n    Why?", "**Question:** Why?"),
        ('!!! note ""\n    Rest.', "Rest."),
        ('=== "Linux"\n    Use apt.\n\n=== "macOS"\n    Use brew.',
         "**Linux**\n\nUse apt.\n\n**macOS**\n\nUse brew."),
        ("/// note | Technical details\n\nRest.\n\n///", "**Technical details:** Rest."),
        ("//// tab | Python 3\n\n/// tip\n\nRest.\n\n///\n\n////",
         "**Python 3**\n\n**Tip:** Rest."),
        ("- One\n\n  :::note\n\n  Rest.\n\n  :::\n\n- Two",
         "- One\n\n  **Note:** Rest.\n\n- Two"),
        ("1. One\n\n    !!! tip\n        Rest.\n\n2. Two",
         "1. One\n\n    **Tip:** Rest.\n\n2. Two"),
        ("> [!WARNING]\n> Rest.", "> **Warning:** Rest."),
        ("```{note} Mind\n:class: x\nRest.\n```", "**Mind:** Rest."),
        (":::tip\n\n- Rest.\n- Wait.\n\n:::", "**Tip:**\n\n- Rest.\n- Wait."),
        ("!!! note\n    ```sh\n    ls\n    ```", "**Note:**\n\n```sh\nls\n```"),
        (":::note\n| a | b |\n|---|---|\n| 1 | 2 |\n:::",
         "**Note:**\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
        ("> [!NOTE]\n>\n> 1. Rest.\n\nAfter.", "> **Note:**\n>\n> 1. Rest.\n\nAfter."),
        ("> [!TIP] Mind\n>\n> Rest.\n> Wait.", "> **Mind:** Rest.\n> Wait."),
        ("> [!TIP]\n\nAfter.", "> **Tip**\n\nAfter."),
        (":::tip\n:::\n\nAfter.", "**Tip**\n\nAfter."),
        ("!!! tip\n\nAfter.", "!!! tip\n\nAfter."),
        (':::warning[Wait!]\nRest.\n:::\n\nAfter.', "**Wait!** Rest.\n\nAfter."),
        ('??? faq "Why rest?"\n    Arms get hot.', "**Why rest?**\nArms get hot."),
        (":::tip\n`ls` lists.\n:::", "**Tip:** `ls` lists."),
        (":::tip\n**Rest** now.\n:::", "**Tip:** **Rest** now."),
        ("```{code-block} python\n:linenos:\nx = 1\n```", "```python\nx = 1\n```"),
    ],
)  # fmt: skip
def test_notes_and_tabs_keep_their_titles_and_their_text(note: str, read: str) -> None:
    assert clean(note) == read


@pytest.mark.parametrize(
    "text",
    [
        "An exclamation!!! note that.",
        "```text\n:::tip\n!!! note\n    <Tabs>\nimport x from 'y'\n```",
        "`:::tip` and `<!-- this -->` and `{{ that }}`",
        "a < b and c > d, or Vec<T>, x<y",
        "export is a word of trade\nimport too",
        "- [ ] a task\n- [x] done",
        "Text with [brackets] and [^1].\n\n[^1]: A footnote.",
        "$a_{1}$ and {curly} words",
    ],
)
def test_what_only_looks_like_markup_stays(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("import Tabs from '@theme/Tabs';\nimport './x.css'\n\nText.", "Text."),
        ("import {\n  A,\n  B,\n} from \"../ab\";\n\nText.", "Text."),
        ("export const x = {\n  a: [1,\n\n  2],\n};\n\nText.", "Text."),
        ("export default function Page() {\n  return <b/>;\n}\nText.", "Text."),
        ("<Tabs>\n<TabItem value='a' label='macOS'>\n\nText.\n\n</TabItem>\n</Tabs>",
         "macOS\n\nText."),
        ("<Listing\n  number=\"4\"\n  caption=\"What `x` does\"\n>\n\nText.\n\n</Listing>",
         "What `x` does\n\nText."),
        ("<Card style={{ a: { b: 1 } }} go={() => 'x'} />\n\nText.", "Text."),
        ("<>\n\nText.\n\n</>", "Text."),
        ("{/* a comment\nover lines */}\nText.", "Text."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_mdx", [True, False])
def test_modules_and_components_are_not_for_readers(text: str, read: str, is_mdx: bool) -> None:
    assert clean(text, is_mdx=is_mdx) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('A <Hot color="red">red</Hot> word.', "A red word."),
        ("{props.title}\n\nText.", "Text."),
        ("Less {'<'} than.", "Less < than."),
        ("{[1, 2].map((n) => {\n  return n;\n})}\n\nText.", "Text."),
    ],
)
def test_mdx_has_components_and_expressions_inside_its_text(text: str, read: str) -> None:
    assert clean(text, is_mdx=True) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("<div class='x'>\n\nText.\n\n</div>", "Text."),
        ("<p align='center'><img src='a.png'></p>\n\nText.", "Text."),
        ("Press <kbd>Ctrl</kbd> or <b>wait</b>.<br/>Then go.",
         "Press `Ctrl` or wait.\nThen go."),
        ("See <a href='https://x.example/a'>this <b>page</b></a>.",
         "See [this page](https://x.example/a)."),
        ("<table><tr><th>A</th><th>B|b</th></tr><tr><td>1</td><td>2<br>3</td></tr></table>",
         "| A | B\\|b |\n| --- | --- |\n| 1 | 2 3 |"),
        ("<details>\n<summary>More</summary>\n\nText.\n\n</details>", "**More**\nText."),
        ("Before.\n\n<details>\n  <summary><b>See</b>\n  *more*</summary>\n\n- Text.\n</details>",
         "Before.\n\n  **See more**\n- Text."),
        ("Text <details><summary>More</summary> of it.</details>", "Text \n**More**\n of it."),
        ("- <details><summary>More</summary>\n\n  Text.</details>", "- **More**\n  Text."),
        ("1. One\n\n   <details>\n   <summary>More</summary>\n\n   Text.\n   </details>\n\n2. Two",
         "1. One\n\n   **More**\n   Text.\n\n2. Two"),
        ("<details><summary>More</summary>Text.</details>", "**More**\nText."),
        ("Text.<script>alert('x')</script><style>p {}</style>", "Text."),
        ("Text.<!-- a comment\n\nthat is never closed", "Text."),
        ("{% raw %}\nText.\n{% endraw %}\n[TOC]", "Text."),
        ("[[_TOC_]]\n\nSee [[Lab Rules|the rules]], [[Room plan#north]].\n\n![[plan.png]]",
         "See the rules, Room plan#north."),
        ("A matrix [[a], [b]], a test [[ -f x ]], [[nodiscard]], [[A]](a.md)",
         "A matrix [[a], [b]], a test [[ -f x ]], [[nodiscard]], [[A]](a.md)"),
        ("[Link](a.md){:target=\"_blank\"} and text{ .annotate }", "[Link](a.md) and text"),
    ],
)  # fmt: skip
def test_html_inside_is_read_as_text(text: str, read: str) -> None:
    assert clean(text) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('A <img src="a.svg" alt="Hands up"/> means stop.', "A ![Hands up](a.svg) means stop."),
        ("| a | b |\n|---|---|\n| <img src='a.svg' alt='Hands up'> | stop |",
         "| a | b |\n|---|---|\n| ![Hands up](a.svg) | stop |"),
        ("<table><tr><td><img alt='One|two' src=a.svg></td><td>x</td></tr></table>",
         "| ![One\\|two](a.svg) | x |\n| --- | --- |"),
        ("<p>\n<a href='https://x.example/'>\n<img\n alt='A [big]\nplan' src='a (1).png'></a></p>",
         "[![A big plan](a%20%281%29.png)](https://x.example/)"),
        ('A <img alt="from a -> b" src="data:image/png;base64,iVBORw0KGgo="> step.',
         "A from a -> b step."),
        ("Click <img alt='Save' src={url('/save.png')} />.", "Click Save."),
        ("A <img data-alt='no' src='a.png'><img alt='' src='b.png'>word.", "A word."),
        ("<a href='https://ci.example'><img src='https://img.shields.io/b.svg' alt='Build'></a>\n\n"
         "Ten.", "Ten."),
        ("## <img src='logo.svg' alt='Logo'>Basil\n\nTen.", "## Basil\n\nTen."),
        ("Write `<img src='a.png' alt='b'>`.", "Write `<img src='a.png' alt='b'>`."),
    ],
)  # fmt: skip
def test_an_image_of_html_is_read_like_one_of_markdown(text: str, read: str) -> None:
    assert clean(text) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("| a | b |\n|---|---|\n| one<br/>two<br /> | three <br> four |\n| c | d |",
         "| a | b |\n|---|---|\n| one two | three four |\n| c | d |"),
        ("> | a | b |\n> |---|---|\n> | 1<br>2 | 3 |", "> | a | b |\n> |---|---|\n> | 1 2 | 3 |"),
        ("1. One\n\n   a | b\n   -- | --\n   1<br>2 | 3",
         "1. One\n\n   a | b\n   -- | --\n   1 2 | 3"),
        ("| a |\n|---|\n| <p>One.</p><p>Two.</p> |", "| a |\n|---|\n| One. Two. |"),
        ("## One<br/>two\n\nText.<br/>More.", "## One two\n\nText.\nMore."),
    ],
)  # fmt: skip
def test_a_break_leaves_rows_and_headings_whole(text: str, read: str) -> None:
    assert re.sub(r" +", " ", clean(text)) == re.sub(r" +", " ", read)


@pytest.mark.parametrize(
    ("code", "read"),
    [
        ("// highlight-next-line\na\nb", "a\nb"),
        ("{\n  # highlight-start\n  a\n  # highlight-end\n}", "{\n  a\n}"),
        ("<!-- highlight-start -->\n<a>\n<!-- highlight-end -->", "<a>"),
        ("/* highlight-next-line */\na\n{/* highlight-next-line */}\nb", "a\nb"),
        ("-- highlight-next-line\na\n// code-error-next-line\nb", "a\nb"),
        ("a // [!code highlight]\nb # [!code ++]\n// [!code focus:2]\nc", "a\nb\nc"),
        ("a\n\nb // highlight-next-line", "a\n\nb"),
    ],
)
def test_comments_that_colour_code_are_not_for_readers(code: str, read: str) -> None:
    assert clean(f"```js\n{code}\n```") == f"```js\n{read}\n```"
    assert clean(f"- One\n\n  ~~~js\n  {code}\n  ~~~").count("highlight-") == 0


@pytest.mark.parametrize(
    "text",
    [
        "```js\n// highlight-next-line is what colours a line\na\n```",
        "```js\n// the-end\n// eslint-disable-next-line no-alert\nx = 'a-start'\n```",
        "```html\n<!-- banner-start -->\n```",
        "Write `// highlight-next-line` above it.",
    ],
)
def test_comments_that_say_something_stay(text: str) -> None:
    assert clean(text) == text


TABS = """Text.

<Tabs>
  <TabItem value='music' label='Music'>
    ```txt
    Artist
    └── Album
    ```
    Text below.
  </TabItem>
  <TabItem
    value='film'
    label='Film'
  >
    <Note>
      - Rest.
        - Wait.
    </Note>
  </TabItem>
</Tabs>
"""


@pytest.mark.parametrize("is_mdx", [True, False])
def test_what_a_component_holds_has_no_margin(is_mdx: bool) -> None:
    assert clean(TABS, is_mdx=is_mdx) == (
        "Text.\n\nMusic\n\n```txt\nArtist\n└── Album\n```\nText below.\n\n"
        "Film\n\n- Rest.\n  - Wait."
    )


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1. One\n\n   <Tabs>\n     ```sh\n     ls\n     ```\n   </Tabs>\n\n2. Two",
         "1. One\n\n   ```sh\n   ls\n   ```\n\n2. Two"),
        ("<div>\n    Text.\n</div>", "Text."),
        ("<div>\n\n    ls -l\n\n</div>", "ls -l"),
        ("```jsx\n<Tabs>\n  <TabItem>\n    Text.\n  </TabItem>\n</Tabs>\n```",
         "```jsx\n<Tabs>\n  <TabItem>\n    Text.\n  </TabItem>\n</Tabs>\n```"),
        ("<Card go={() =>\n  'x'} />\n\n    Text.\n\n</Card>", "Text."),
        ("<A>\n\t```sh\n\tls\n\t```\n</A>", "```sh\nls\n```"),
        ("Vec<T> is\n    wide\n</T>", "Vec<T> is\n    wide"),
    ],
)  # fmt: skip
def test_margins_go_with_the_tags_that_set_them(text: str, read: str) -> None:
    assert re.sub(r"\n{2,}", "\n\n", clean(text)) == read


SCRIPTS = [
    ("VORBIS<sup>3</sup> plays.", "VORBIS (3) plays."),
    ("H.264<sup>\\*</sup>, MP4 <sup>2</sup>", "H.264 (*), MP4 (2)"),
    ("Storage.<sup>1</sup><sup>2</sup> Then", "Storage. (1)(2) Then"),
    ("<sup>1</sup>Your file.", "(1) Your file."),
    ("Rooms<sup>[1]</sup> and halls<sup>a, b</sup>", "Rooms (1) and halls a, b"),
    ("In 2019<sup>3</sup>", "In 2019 (3)"),
    (
        "x<sup>2</sup>, 10<sup>-6</sup>, 5 km<sup>2</sup>, O(n<sup>2</sup>), (n+1)<sup>k</sup>",
        "x^2, 10^-6, 5 km^2, O(n^2), (n+1)^k",
    ),
    (
        "the 21<sup>st</sup>, Java<sup>TM</sup>, Basil<sup>®</sup>, Ca<sup>2+</sup>",
        "the 21st, Java (TM), Basil®, Ca^2+",
    ),
    (
        "H<sub>2</sub>O, C<sub>6</sub>H<sub>12</sub>, x<sub>i</sub>, log<sub>2</sub>",
        "H2O, C6H12, xi, log2",
    ),
    ("VORBIS<sub>3</sub> plays.<sub>More of it below</sub>", "VORBIS (3) plays. More of it below"),
    ("<i>x</i><sup>2</sup> words", "x^2 words"),
]


@pytest.mark.parametrize(("text", "read"), SCRIPTS)
def test_a_number_above_or_below_the_line_never_sticks_to_a_word(text: str, read: str) -> None:
    assert clean(text) == read


def test_the_number_of_a_note_is_no_part_of_a_title() -> None:
    assert clean("## MP4 Container<sup>2</sup>\n\nText.") == "## MP4 Container\n\nText."
    assert clean("## About x<sup>2</sup>\n\nText.") == "## About x^2\n\nText."


def test_links_by_reference_carry_their_addresses() -> None:
    text = (
        "See [the\nrules][Rules], [rules] and [other][none].\n\n"
        "[rules]: https://x.example/r 'R'\n*[HTML]: Hypertext\n"
    )
    assert clean(text) == (
        "See [the\nrules](https://x.example/r), [rules](https://x.example/r) and [other][none]."
    )


def test_a_heading_keeps_the_anchor_that_it_was_given() -> None:
    text = "## One { #first }\n\n## Two {/* #second */}\n\n## Three {#third}"
    assert clean(text, is_mdx=True) == text
    listed = "## One {: #first .big }\n\n## Two { .big #second }\n\nText{: #third }."
    assert clean(listed) == "## One {#first}\n\n## Two {#second}\n\nText."


@pytest.mark.parametrize(
    "content",
    [
        "Größe\n\n“x”\n".encode(),
        codecs.BOM_UTF8 + "Größe\r\n\r\n“x”\r\n".encode(),
        "\ufeffGröße\n\n“x”\n".encode("utf-16-le"),
        "\ufeffGröße\r\r“x”\r".encode("utf-16-be"),
        "Größe\n\n“x”\n".encode("cp1252"),
    ],
)
@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_any_encoding_and_any_line_end_is_read_as_the_same_text(name: str, content: bytes) -> None:
    assert load(name, content).text == "Größe\n\n“x”\n"


@pytest.mark.parametrize("name", ["a.md", "a.mdx", "a.txt", "a.html", "a.rst"])
@pytest.mark.parametrize("content", [b"", b"\n \n", codecs.BOM_UTF8])
def test_an_empty_file_is_read_as_empty(name: str, content: bytes) -> None:
    assert load(name, content).text.strip() == ""


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.txt", b"%PDF-1.7\nwords between numbers", "PDF under another name"),
        ("a.md", b"PK\x03\x04words", "packed file"),
        ("a", b"{\\rtf1 words}", ".rtf under another name"),
    ],
)
def test_other_formats_under_a_name_of_text_are_refused(
    name: str, content: bytes, reason: str
) -> None:
    with pytest.raises(IngestionError, match=reason):
        load(name, content)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(IngestionError, match="not text"):
        load("a.md", b"abc\x00\x01")


@pytest.mark.parametrize(
    ("block", "fields"),
    [
        ('+++\ntitle = "Hours"\nlesson = 3\n+++\n', {"title": "Hours", "lesson": 3}),
        ("+++\nno toml\n+++\n", {}),
        ("---\ntitle: Hours\n---\n", {"title": "Hours"}),
    ],
)
def test_front_matter_is_read_as_settings(block: str, fields: dict[str, object]) -> None:
    loaded = load("a.md", f"{block}Ten a day.\n".encode())
    assert loaded.fields == fields
    assert loaded.text == "Ten a day.\n"
    assert bool(loaded.notices) == (not fields)


MARKS = ["`", "`` ", "<!--", "--><!--", "{/*", "{a ", "[", "[[a]", "<a href='https://x.example/'>"]
MARKS += ["<table><tr><td>", "<", "<A b={", "<div ", "!!! note\n", "```{note}\n", ":::note\n"]
MARKS += ["import {\n", "export const a = {\n", "[a]: b\n", "---\n", "**a", "> [!NOTE]\n", "<A\n"]


@pytest.mark.parametrize("mark", MARKS)
def test_marks_without_end_are_read_in_their_time(mark: str) -> None:
    """Without a bound of its own this would not end: a clock that matters stands in the loader."""
    text = mark * (100_000 // len(mark))
    with Loader() as loader:
        assert loader.load("a.mdx", text.encode()).is_markdown


PIECES_OF_CODE = [
    "`",
    "``",
    "```",
    "````",
    "~",
    "~~~",
    "<!--",
    "-->",
    "{/*",
    "*/}",
    "#",
    "\n",
    " ",
    "a",
]


@given(st.lists(st.sampled_from(PIECES_OF_CODE), max_size=40).map("".join))
def test_code_is_found_as_if_each_character_were_tried(text: str) -> None:
    def place(code: re.Match[str]) -> str:
        return f"[{code.start()}-{code.end()}]"

    assert with_code_replaced(text, place) == CODE.sub(place, text)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("## Hours \t{: #open .big }", "## Hours {#open}"),
        ("Words {: .big } and more \t{: .small }.", "Words and more."),
        ("{:toc}\n", "\n"),
    ],
)
def test_classes_go_with_the_blanks_before_them(written: str, read: str) -> None:
    assert without_classes(written) == read
