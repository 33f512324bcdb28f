"""A website becomes a book: asked politely, read again only where it changed, never led astray."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from rag_core.books.book import BookIds
from rag_core.ingestion.gathering import Gathering
from rag_core.ingestion.job import IngestionJob, JobStatus
from rag_core.ingestion.pipeline import Ingestion, IngestionRequest
from rag_core.providers.edge.store import EdgeStore, open_edge_store
from rag_core.retrieval.query import SearchQuery
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.retriever import Retriever
from rag_core.websites.address import parsed
from rag_core.websites.fetcher import Fetcher
from rag_core.websites.response import FetchLimits, Unreachable
from tests.fakes.embedder import WordEmbedder
from tests.fakes.ingestion_stores import MemoryBooks, MemoryJobs
from tests.peers.website import WebsitePeer, website_peer
from tests.shelf_builders import long_text

BOOK = BookIds(["web"])
QUICK = FetchLimits(pause=0.001, request_seconds=5.0)


@dataclass
class Reader:
    """A book that is read from a website."""

    site: WebsitePeer
    store: EdgeStore
    folder: Path
    limits: FetchLimits = QUICK
    allowed: Sequence[str] = ()
    embedder: WordEmbedder = field(default_factory=WordEmbedder)
    jobs: MemoryJobs = field(default_factory=MemoryJobs)
    books: MemoryBooks = field(default_factory=MemoryBooks)

    async def reads(self, *sources: str) -> IngestionJob:
        fetcher = partial(
            Fetcher, version="test", allowed=self.allowed or [self.site.host], limits=self.limits
        )
        async with Ingestion(
            jobs=self.jobs,
            books=self.books,
            store=self.store,
            embedder=self.embedder,
            gathers=Gathering(self.folder / "websites", fetcher=fetcher),
        ) as ingestion:
            job = await ingestion.start(IngestionRequest(book_id="web", sources=sources))
            return await ingestion.wait(job.job_id)

    async def found(self, text: str) -> Sequence[SearchResult]:
        retriever = Retriever(embedder=self.embedder, store=self.store)
        return (
            await retriever.search(SearchQuery(text=text, book_ids=BOOK, audience=None))
        ).results

    async def pages(self) -> set[str]:
        """The addresses of all pages in the book."""
        state = await self.jobs.state("web")
        ids = [chunk_id for record in state.records.values() for chunk_id in record.chunk_ids]
        chunks = await self.store.chunks(ids, books=BOOK)
        return {str(chunk.page_url).partition("#")[0] for chunk in chunks.values()}

    def reasons(self, job: IngestionJob) -> dict[str, str]:
        return {f.source_file.removeprefix(self.site.url): f.reason for f in job.failures}


@pytest.fixture
async def reader(tmp_path: Path) -> AsyncIterator[Reader]:
    model = WordEmbedder()
    async with (
        website_peer() as site,
        open_edge_store(tmp_path / "index", dimension=model.dimension, model=model.model) as store,
    ):
        for name in ("alpha", "beta", "gamma"):
            site.pages[f"/docs/{name}"] = page(name)
        yield Reader(site=site, store=store, folder=tmp_path)


def page(subject: str) -> str:
    return f"# About {subject}\n\n{long_text(subject)}\n"


async def test_a_sitemap_becomes_a_book_whose_links_lead_to_its_pages(reader: Reader) -> None:
    site = reader.site
    job = await reader.reads(site.sitemap("/docs/alpha", "/docs/beta?v=1", "/docs/gamma"))
    assert job.status is JobStatus.COMPLETED
    assert reader.reasons(job) == {"/docs/beta?v=1": "the server answers 404"}
    assert (job.files_processed, job.files_found) == (2, 3)
    assert await reader.pages() == {f"{site.url}/docs/alpha", f"{site.url}/docs/gamma"}
    found = (await reader.found("alpha described"))[0]
    assert found.source_file == f"{site.host.replace(':', '-')}/docs/alpha.md"


async def test_a_page_of_html_is_its_main_part_with_links_to_its_sections(reader: Reader) -> None:
    site = reader.site
    site.pages["/guide/"] = (
        "<html><head><title>Guide</title></head><body><nav>Home Blog Imprint</nav><main>"
        f"<h1>Guide</h1><h2 id='fit'>Fitting</h2><p>{long_text('gripper')}</p></main>"
        "<footer>All rights reserved</footer></body></html>"
    )
    site.kinds["/guide/"] = "text/html; charset=utf-8"
    job = await reader.reads(site.sitemap("/guide/"))
    assert (job.files_processed, job.notices) == (1, ())
    found = (await reader.found("gripper described"))[0]
    assert (found.page_title, found.section_heading) == ("Guide", "Fitting")
    assert found.page_url == f"{site.url}/guide/#fit"
    assert "Imprint" not in found.text


async def test_only_what_changed_is_sent_and_read_again(reader: Reader) -> None:
    site = reader.site
    sitemap = site.sitemap("/docs/alpha", "/docs/beta", "/docs/gamma")
    await reader.reads(sitemap)
    reader.embedder.embedded.clear()
    site.pages["/docs/beta"] = page("delta")
    second = await reader.reads(sitemap)
    assert (second.files_processed, second.files_skipped) == (1, 2)
    assert len(reader.embedder.embedded) == second.chunks_embedded > 0
    assert "alpha" not in str(reader.embedder.embedded)
    site.sitemap("/docs/beta")
    third = await reader.reads(sitemap)
    assert (third.files_processed, third.files_skipped) == (0, 1)
    assert await reader.pages() == {f"{site.url}/docs/beta"}


async def test_a_page_that_is_away_for_a_while_stays_and_one_that_is_gone_goes(
    reader: Reader,
) -> None:
    site = reader.site
    sitemap = site.sitemap("/docs/alpha", "/docs/beta", "/docs/gamma")
    await reader.reads(sitemap)
    site.troubles = {"/docs/alpha": [503] * QUICK.attempts, "/docs/beta": [500, 429]}
    del site.pages["/docs/gamma"]
    site.pages["/docs/beta"] = page("delta")
    job = await reader.reads(sitemap)
    assert reader.reasons(job) == {
        "/docs/alpha": "the server answers 503",
        "/docs/gamma": "the server answers 404",
    }
    assert await reader.pages() == {f"{site.url}/docs/alpha", f"{site.url}/docs/beta"}
    assert await reader.found("delta described")


async def test_a_site_that_is_away_leaves_the_book_as_it_was(reader: Reader) -> None:
    site = reader.site
    sitemap = site.sitemap("/docs/alpha")
    await reader.reads(sitemap)
    site.troubles = {"/robots.txt": [503] * QUICK.attempts}
    job = await reader.reads(sitemap)
    assert reader.reasons(job) == {"/sitemap.xml": "its robots.txt is not to be had now (503)"}
    assert await reader.pages() == {f"{site.url}/docs/alpha"}
    new = Reader(site=site, store=reader.store, folder=reader.folder / "new")
    site.troubles = {"/sitemap.xml": [404]}
    failed = await new.reads(sitemap)
    assert failed.status is JobStatus.FAILED
    assert "the server answers 404" in (failed.error_message or "")


async def test_what_a_reading_that_was_cut_off_has_left_is_not_read(reader: Reader) -> None:
    site = reader.site
    sitemap = site.sitemap("/docs/alpha")
    await reader.reads(sitemap)
    (folder,) = (reader.folder / "websites" / "web").iterdir()
    (folder / "pages" / "left-over.md").write_text(page("stranger"))
    site.troubles = {"/sitemap.xml": [503] * QUICK.attempts}
    await reader.reads(sitemap)
    assert await reader.pages() == {f"{site.url}/docs/alpha"}
    (folder / "index.json").write_text("{ damaged")
    site.troubles = {}
    job = await reader.reads(sitemap)
    assert (job.files_skipped, job.files_failed) == (1, 0)
    assert await reader.pages() == {f"{site.url}/docs/alpha"}


async def test_robots_are_heard_for_pages_and_sitemaps(reader: Reader) -> None:
    site = reader.site
    site.pages["/robots.txt"] = "User-agent: footnote\nDisallow: /docs/b\nDisallow: /closed\n"
    job = await reader.reads(site.sitemap("/docs/alpha", "/docs/beta"))
    assert reader.reasons(job) == {"/docs/beta": "the site's robots.txt does not allow it"}
    assert "/docs/beta" not in site.heard
    closed = await reader.reads(site.sitemap("/docs/alpha", at="/closed/sitemap.xml"))
    assert "robots.txt does not allow" in reader.reasons(closed)["/closed/sitemap.xml"]


async def test_a_site_named_by_its_root_is_read_by_the_sitemap_it_names(reader: Reader) -> None:
    site = reader.site
    site.sitemap("/docs/alpha", at="/maps/one.xml")
    site.pages["/robots.txt"] = f"Sitemap: {site.url}/none.xml\nSitemap: {site.url}/maps/one.xml"
    await reader.reads(site.url)
    assert await reader.pages() == {f"{site.url}/docs/alpha"}
    site.pages |= {"/robots.txt": "", "/": page("home")}
    job = await reader.reads(site.url)
    assert "there is no sitemap; only this page is read" in job.notices[0]
    assert await reader.pages() == {f"{site.url}/"}


async def test_addresses_are_read_as_single_pages(reader: Reader) -> None:
    site = reader.site
    await reader.reads(f"{site.url}/docs/alpha", f"{site.url}/docs/beta")
    assert await reader.pages() == {f"{site.url}/docs/alpha", f"{site.url}/docs/beta"}
    await reader.reads(f"{site.url}/docs/alpha")
    assert len(await reader.pages()) == 2, "a run over one address takes no other out"


async def test_pages_of_other_hosts_and_other_kinds_are_named_and_left_out(reader: Reader) -> None:
    site = reader.site
    site.pages |= {"/logo": "binary", "/text": "Plain words about epsilon. " * 20}
    site.kinds |= {"/logo": "image/png", "/text": "text/plain; charset=utf-8"}
    elsewhere = ("http://127.0.0.1:9/x", "file:/etc/passwd", "http://example.com/x")
    job = await reader.reads(site.sitemap("/docs/alpha", "/logo", "/text", *elsewhere))
    assert reader.reasons(job) == {"/logo": "documents of the kind image/png cannot be read"}
    assert any("3 addresses in it are of other hosts" in notice for notice in job.notices)
    assert await reader.pages() == {f"{site.url}/docs/alpha", f"{site.url}/text"}


async def test_a_redirect_may_stay_on_the_site_and_never_leave_it(reader: Reader) -> None:
    site = reader.site
    site.redirects = {
        "/moved": "/docs/alpha",
        "/away": "http://169.254.169.254/latest/meta-data/",
        "/file": "file:/etc/passwd",
        "/near": "http://127.0.0.1:9999/",
        "/name": "http://me@example.com/",
        "/round": "/round",
    }
    job = await reader.reads(site.sitemap(*site.redirects))
    assert reader.reasons(job) == {
        "/away": "it leads to another host (169.254.169.254); name that one",
        "/file": "it is not an http or https address",
        "/near": "it leads to another host (127.0.0.1:9999); name that one",
        "/name": "it holds a user name or password",
        "/round": "it leads on more than 5 times",
    }
    assert await reader.pages() == {f"{site.url}/moved"}


@pytest.mark.parametrize("allowed", [(), ("localhost",), ("127.0.0.1:1",), ("example.com",)])
async def test_a_host_of_the_own_network_is_refused_unless_it_is_named(
    reader: Reader, allowed: Sequence[str]
) -> None:
    reader.allowed = allowed or ["nobody"]
    job = await reader.reads(reader.site.sitemap("/docs/alpha"))
    assert job.status is JobStatus.FAILED
    assert "127.0.0.1 is this machine" in (job.error_message or "")
    assert reader.site.heard == []


async def test_a_name_is_looked_up_once_and_what_was_checked_is_connected_to(
    reader: Reader,
) -> None:
    """The second time, the name leads elsewhere: rebinding."""
    site, asked = reader.site, [0]
    port = int(site.host.partition(":")[2])

    async def resolve(host: str, _: int) -> Sequence[str]:
        asked[0] += 1
        return ["127.0.0.1"] if asked[0] == 1 else ["169.254.169.254"]

    name = f"docs.example:{port}"
    address = parsed(f"http://{name}/docs/alpha")
    async with Fetcher(version="1", allowed=[name], resolve=resolve, limits=QUICK) as fetcher:
        for _ in range(3):
            assert (await fetcher.get(address, max_bytes=10_000)).status == 200
    assert asked == [1]
    assert site.hosts == {name}, "the server hears the name, not the address"


async def test_what_is_too_large_or_too_slow_or_too_many_has_an_end(reader: Reader) -> None:
    site = reader.site
    site.pages["/docs/beta"] = page("beta") * 40
    reader.limits = FetchLimits(pause=0.001, page_bytes=5_000, pages=2)
    job = await reader.reads(site.sitemap("/docs/alpha", "/docs/beta", "/docs/gamma"))
    assert reader.reasons(job) == {"/docs/beta": "it is larger than 5,000 bytes"}
    assert any("only its first 2 pages are read" in notice for notice in job.notices)
    reader.limits = FetchLimits(pause=0.001, total_bytes=100, at_once=1)
    job = await reader.reads(site.sitemap("/docs/gamma", "/docs/alpha"))
    assert reader.reasons(job) == {"/docs/alpha": "the site is larger than one reading may be"}


async def test_a_packed_answer_that_nobody_asked_for_is_refused(reader: Reader) -> None:
    reader.site.headers["/docs/alpha"] = {"Content-Encoding": "br"}
    job = await reader.reads(reader.site.sitemap("/docs/alpha", "/docs/beta"))
    assert "comes packed" in reader.reasons(job)["/docs/alpha"]


async def test_text_of_another_encoding_is_read_as_what_it_is(reader: Reader) -> None:
    site = reader.site
    site.pages |= {"/latin": page("café").encode("latin-1"), "/odd": page("odd")}
    site.kinds |= {
        "/latin": "text/markdown; charset=ISO-8859-1",
        "/odd": "text/markdown; charset=no-such-thing",
    }
    job = await reader.reads(site.sitemap("/latin", "/odd"))
    assert job.notices == ()
    assert {result.page_title for result in await reader.found("described")} == {
        "About café",
        "About odd",
    }


async def test_a_port_where_nobody_listens_is_named(reader: Reader) -> None:
    limits = FetchLimits(request_seconds=0.2)
    async with Fetcher(version="1", allowed=["127.0.0.1"], limits=limits) as fetcher:
        with pytest.raises(Unreachable, match="could not be connected to"):
            await fetcher.get(parsed("http://127.0.0.1:1025/"), max_bytes=10)
