"""A web page is read for what it says itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.ingestion.loaders import Loader

WORDS = "Every member may upload ten files a day, and no more than a hundred a month. " * 3


@pytest.fixture(scope="module")
def loader() -> Iterator[Loader]:
    with Loader() as opened:
        yield opened


def page(main: str, *, head: str = "") -> bytes:
    return (
        f"<!doctype html><html><head><meta charset=utf-8><title>Limits | Docs</title>{head}</head>"
        "<body><nav><a href=/>Home</a></nav><aside class=sidebar><ul><li><a href=/a>All of the"
        f" other pages</a></li></ul></aside>{main}<footer>Copyright</footer></body></html>"
    ).encode()


def read(loader: Loader, main: str) -> str:
    return loader.load("a.html", page(f"<main>{main}<p>{WORDS}</p></main>")).text.removesuffix(
        f"\n\n{WORDS.strip()}"
    )


@pytest.mark.parametrize(
    "wrapped",
    [
        "<main>{}</main>",
        "<div role=main>{}</div>",
        "<main><nav class=breadcrumbs>Docs</nav><article>{}</article>"
        "<div class=table-of-contents><a href=#x>Limits</a></div></main>",
        "<div id=content>{}<div class='pagination-nav'>Next: more</div></div>",
        "<div class=wrap><div class=page><div class=text>{}</div></div></div>",
        "<main><div class=post-meta>By Jo, 3 May 2024</div><p class=byline></p>{}"
        "<span class=mw-editsection>[<a href=/edit>edit</a>]</span></main>",
        "<form><table><tr><td>{}</td></tr></table></form>",
    ],
)
def test_only_the_main_part_of_a_page_is_read(loader: Loader, wrapped: str) -> None:
    loaded = loader.load("a.html", page(wrapped.format(f"<p>{WORDS}</p><p>{WORDS}</p>")))
    assert loaded.text == f"{WORDS.strip()}\n\n{WORDS.strip()}"
    assert loaded.fields["title"] == "Limits"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h2 id=own>Own id</h2>", "## Own id {#own}"),
        ("<h2><a name=old></a>Old name</h2>", "## Old name {#old}"),
        ("<section id=part><h3>Of the part</h3></section>", "### Of the part {#part}"),
        ("<h2>By link<a class=headerlink href='#by-link'>¶</a></h2>", "## By link {#by-link}"),
        ("<h2 id=x>Read <a href=/a>this</a> <code>now</code></h2>",
         "## Read this `now` {#x}"),
        ("<h2>None</h2>", "## None"),
        ("<h2 id='a b'>Bad</h2>", "## Bad"),
    ],
)  # fmt: skip
def test_headings_keep_the_ids_that_links_lead_to(loader: Loader, html: str, markdown: str) -> None:
    assert read(loader, html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>One<br>two <b>three</b>\n four</p>", "One\ntwo three four"),
        ("<p><strong>Gloves </strong><br/>Wear them.<br/>Always.</p>",
         "**Gloves**\n\nWear them.\nAlways."),
        ("<p> <b>Late <i>work</i></b></p><p><b>None</b> is taken.</p>",
         "**Late work**\n\nNone is taken."),
        ("<p># One</p><p>- two</p><p>3. three</p><p>---</p>",
         "\\# One\n\n\\- two\n\n3\\. three\n\n\\---"),
        ("<p><a href='https://x.example/(a)'>Out</a> <a href='/in'>in</a></p>",
         "[Out](https://x.example/%28a%29) in"),
        ("<pre><code class='language-py'>a = 1\n\n  b</code></pre>", "```py\na = 1\n\n  b\n```"),
        ("<div class='highlight-sh'><pre><span>ls</span><br>cd</pre></div>", "```sh\nls\ncd\n```"),
        ("<pre>a ``` b</pre>", "````\na ``` b\n````"),
        ("<table><tr><td class=linenos><pre>1\n2</pre></td><td><pre>a\nb</pre></td></tr></table>",
         "```\na\nb\n```"),
        ("<ul><li>a</li><li><p>b</p><ol start=3><li>c</ol></ul>", "- a\n- b\n  3. c"),
        ("<ol><li><p>a</p><p>b</p></li><li>c</li></ol>", "1. a\n\n   b\n2. c"),
        ("<table><tr><th>A</th><th colspan=2>B|C</th></tr><tr><td>1</td><td>2<p>x</td><td></td>"
         "</tr></table>", "| A | B\\|C |  |\n| --- | --- | --- |\n| 1 | 2 x |  |"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n\n> b"),
        ("<dl><dt>A</dt><dd>b</dd></dl>", "A\n\nb"),
        ("<p>x<code>a`b</code> y<sup>2</sup></p>", "x``a`b`` y^2"),
        ("<p>VORBIS<sup>3</sup> and <b>MP4</b><sup><a href='#n'>[2]</a></sup>, H<sub>2</sub>O</p>",
         "VORBIS (3) and MP4 (2), H2O"),
        ("<math><semantics><mi>a</mi><annotation encoding='application/x-tex'>a^2</annotation>"
         "</semantics></math>", "$a^2$"),
        ("<div role=tabpanel hidden><p>tab</p></div><p hidden>no</p><p style='display: none'>no</p>"
         "<script>no</script><template>no</template><p aria-hidden=true>no</p>", "tab"),
        ("<a href=/x><div><h3>Card</h3><p>text</p></div></a>", "### Card\n\ntext"),
        ("<p>Text <img alt='Hands &lt;up>' src='a b.svg'> more<img src=x.gif alt=''>.</p>",
         "Text ![Hands <up>](a%20b.svg) more."),
        ("<table><tr><th>Sign</th></tr><tr><td><img alt='One|two' src=a.svg></td></tr></table>",
         "| Sign |\n| --- |\n| ![One\\|two](a.svg) |"),
        ("<p>See <picture><source srcset=d.png><img alt=Plan src=l.png></picture>.</p>",
         "See ![Plan](l.png)."),
        ("<h2 id=x><a href=/><img alt=Logo src=l.png></a> Basil</h2>", "## Basil {#x}"),
        ("<p>1 &lt; 2 &amp; 3&nbsp;&#x2014;</p>", "1 < 2 & 3 —"),
    ],
)  # fmt: skip
def test_elements_are_written_as_markdown_has_them(
    loader: Loader, html: str, markdown: str
) -> None:
    assert read(loader, html) == markdown


def test_a_page_says_its_own_address(loader: Loader) -> None:
    head = '<link rel="canonical" href="https://docs.example/limits">'
    assert loader.load("a.html", page(WORDS, head=head)).fields["url"] == (
        "https://docs.example/limits"
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<meta charset=iso-8859-1><p>Größe “x”".encode("cp1252"), "Größe “x”"),
        ("<meta http-equiv=Content-Type content='text/html; charset=koi8-r'><p>Привет".encode(
            "koi8-r"), "Привет"),
        ("<meta charset=nonsense><p>Größe".encode(), "Größe"),
        ("\ufeff<p>Größe".encode("utf-16-le"), "Größe"),
        ('<?xml version="1.0" encoding="utf-8"?><html><body><p>Größe'.encode(), "Größe"),
    ],
)  # fmt: skip
def test_a_page_is_decoded_as_it_says(loader: Loader, content: bytes, text: str) -> None:
    assert loader.load("a.html", content).text == text
