"""A web site of our own on loopback, served from a thread, and a warm `Fetcher`; import the fixtures where needed.

    from site_fixtures import fetcher, site

`site` serves the pages of `tests/site/` and the misbehaving ones below. Tests that use `fetcher` share one browser and
one event loop: mark them `pytest.mark.asyncio(loop_scope="session")`.
"""

from __future__ import annotations

import asyncio
import gzip
import threading
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest
import pytest_asyncio
from aiohttp import web
from pdf_maker import make_pdf

from lookstruct.extractors import Fetcher, FetchOptions

PAGES = Path(__file__).parent / "site"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f6"
    "45400000000049454e44ae426082"
)


@dataclass
class Site:
    """Where the site is, and which requests reached it (`requests`, path with query)."""

    base: str
    requests: list[str] = field(default_factory=list)

    def url(self, path: str) -> str:
        """The URL of `path`, which begins with a slash."""
        return self.base + path

    def page(self, body: str) -> str:
        """The URL of a page with this markup."""
        return self.url(f"/html?body={quote(body)}")


async def _status(request: web.Request) -> web.Response:
    code = int(request.match_info["code"])
    return web.Response(status=code, text="" if code == 204 else "<h1>Sorry</h1>", content_type="text/html")


async def _slow(request: web.Request) -> web.Response:
    await asyncio.sleep(float(request.query.get("s", "30")))
    return web.Response(text="<p>late</p>", content_type="text/html")


async def _drip(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/html"})
    await response.prepare(request)
    for _ in range(600):
        await response.write(b"<p>drop</p>")
        await asyncio.sleep(0.1)
    return response


async def _redirect(request: web.Request) -> web.Response:
    raise web.HTTPFound(request.query["to"])


async def _loop(_: web.Request) -> web.Response:
    raise web.HTTPFound("/loop")


async def _onward(request: web.Request) -> web.Response:
    """Redirects to ever new addresses."""
    raise web.HTTPFound(f"/onward?n={int(request.query['n']) + 1}")


async def _html(request: web.Request) -> web.Response:
    """The page that the query spells out."""
    return web.Response(text=request.query["body"], content_type="text/html")


async def _file(request: web.Request) -> web.Response:
    bodies = {
        "pdf": (b"%PDF-1.7\n%%EOF", "application/pdf"),
        "png": (PNG, "image/png"),
        "zip": (b"PK\3\4", "application/zip"),
    }
    body, kind = bodies[request.match_info["kind"]]
    return web.Response(body=body, content_type=kind)


async def _attachment(_: web.Request) -> web.Response:
    headers = {"Content-Disposition": "attachment; filename=page.html"}
    return web.Response(text="<p>saved</p>", content_type="text/html", headers=headers)


async def _stream(request: web.Request) -> web.StreamResponse:
    """As many megabytes of markup as asked for; with ?length=1 their number is announced."""
    n_megabytes = int(request.query["mb"])
    response = web.StreamResponse(headers={"Content-Type": "text/html"})
    chunk = b"<p>" + b"x" * 999_993 + b"</p>"
    if "length" in request.query:
        response.content_length = n_megabytes * len(chunk)
    await response.prepare(request)
    for _ in range(n_megabytes):
        await response.write(chunk)
    return response


async def _bomb(_: web.Request) -> web.Response:
    """100 MB of markup in 100 kB."""
    body = gzip.compress(b"<p>" + b"x" * 100_000_000, compresslevel=9)
    return web.Response(body=body, headers={"Content-Type": "text/html", "Content-Encoding": "gzip"})


async def _charset(request: web.Request) -> web.Response:
    """A page in one encoding that declares another: /charset/ACTUAL?header=DECLARED."""
    body = "<title>x</title><p>Straße 12, Köln, 価格".encode(request.match_info["actual"], "ignore")
    declared = request.query.get("header")
    return web.Response(
        body=body, headers={"Content-Type": f"text/html; charset={declared}" if declared else "text/html"}
    )


async def _reset(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.StreamResponse()


async def _item(request: web.Request) -> web.Response:
    await asyncio.sleep(float(request.query.get("delay", "0")))
    return web.json_response({"name": "Oak table", "price": "249.00"})


async def _document(request: web.Request) -> web.Response:
    """A PDF for ann alone, a text, a Markdown file, a mail with its type, and a PDF to be saved."""
    name = request.match_info["name"]
    pdf = make_pdf([[(50, 50, 12, "Tea"), (300, 50, 12, "3.50")]])
    body, kind = {
        "a.pdf": (pdf, "application/pdf"),
        "ann.pdf": (pdf, "application/pdf"),
        "saved": (pdf, "application/octet-stream"),
        "a.txt": (b"Tea    3.50", "text/plain"),
        "a.md": (b"# Tea\n\n3.50", "text/markdown"),
        "mail": (b"From: a@a.example\nSubject: Tea\n\n3.50", "message/rfc822"),
    }[name]
    if name == "ann.pdf" and request.cookies.get("who") != "ann":
        return web.Response(status=403, text="no")
    headers = {"Content-Disposition": "attachment; filename=saved.pdf"} if name == "saved" else {}
    return web.Response(body=body, content_type=kind, headers=headers)


async def _secret(request: web.Request) -> web.Response:
    """For ann with the password s@fe: only."""
    if request.headers.get("Authorization") != "Basic " + b64encode(b"ann:s@fe:").decode():
        return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})
    return web.Response(text="<p>secret</p><script src=/header?header=X-Word></script>", content_type="text/html")


async def _told(request: web.Request) -> web.Response:
    """A page that loads from the other origin ?other=, which shows the header it was sent."""
    text = f"<p>own {request.headers.get('X-Word', '')}</p><iframe src='{request.query['other']}/header?header=X-Word'>"
    return web.Response(text=text + "</iframe>", content_type="text/html")


async def _shelf(request: web.Request) -> web.Response:
    """Ten items of a long list."""
    page = int(request.query["page"])
    await asyncio.sleep(0.1)
    return web.json_response([f"book {n}" for n in range(page * 10, page * 10 + 10)])


async def _listing(request: web.Request) -> web.Response:
    """Page ?page=N of three of a listing, linked by rel=next, or by what ?by names: a class, nothing, a private host,
    itself, a page that is missing, one that robots.txt forbids."""
    page, by = int(request.query.get("page", "1")), request.query.get("by", "rel")
    onward = f"/listing?by={by}&page={page + 1}"
    link = {
        "rel": f"<link rel='prefetch next' href='{onward}'>",
        "class": f"<a class='onward' href='{onward}'>more</a>",
        "private": "<a rel=next href='http://127.0.0.2:8000/'>more</a>",
        "itself": f"<a rel=next href='/listing?by=itself&page={page % 2 + 1}'>round</a>",
        "forbidden": "<a rel=next href='/forbidden?page=2'>more</a>",
        "missing": "<a rel=next href='/status/404'>more</a>",
        "slow": "<a rel=next href='/slow?s=30'>more</a>",
    }[by]
    items = "".join(f"<li><a href='item/{n}'>item {n}</a>" for n in range(page * 2 - 1, page * 2 + 1))
    link = link if page < 3 or by == "itself" else ""
    body = f"<title>List</title>{link}<h1>Page {page}</h1><ul>{items}</ul><p hidden>x"
    return web.Response(text=body, content_type="text/html")


async def _agent(request: web.Request) -> web.Response:
    return web.Response(text=f"<p>{request.headers.get(request.query['header'], '')}</p>", content_type="text/html")


async def _page(request: web.Request) -> web.StreamResponse:
    path = PAGES / request.match_info["name"]
    if path.parent != PAGES or not path.is_file():
        raise web.HTTPNotFound()
    return web.FileResponse(path)


def application(site: Site) -> web.Application:
    """The site; it notes every request in `site.requests`."""

    @web.middleware
    async def note(request: web.Request, handler: object) -> web.StreamResponse:
        site.requests.append(request.path_qs)
        return await handler(request)  # type: ignore[operator]

    app = web.Application(middlewares=[note])
    app.add_routes(
        [
            web.get("/status/{code}", _status),
            web.get("/slow", _slow),
            web.get("/drip", _drip),
            web.get("/redirect", _redirect),
            web.get("/loop", _loop),
            web.get("/onward", _onward),
            web.get("/html", _html),
            web.get("/file/{kind}", _file),
            web.get("/attachment", _attachment),
            web.get("/stream", _stream),
            web.get("/bomb", _bomb),
            web.get("/charset/{actual}", _charset),
            web.get("/reset", _reset),
            web.get("/api/item", _item),
            web.get("/header", _agent),
            web.get("/api/shelf", _shelf),
            web.get("/document/{name}", _document),
            web.get("/secret", _secret),
            web.get("/told", _told),
            web.get("/listing", _listing),
            web.get("/{name}", _page),
        ]
    )
    return app


async def _serve(site: Site, started: threading.Event, stop: asyncio.Event) -> None:
    runner = web.AppRunner(application(site), shutdown_timeout=0.1)
    await runner.setup()
    listener = web.TCPSite(runner, "127.0.0.1", 0)
    await listener.start()
    assert listener._server is not None
    port = listener._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    site.base = f"http://127.0.0.1:{port}"
    started.set()
    await stop.wait()
    await runner.cleanup()


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """The site, up and running."""
    site, started = Site(""), threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(_serve(site, started, stop)), daemon=True)
    thread.start()
    assert started.wait(10), "the test site did not start"
    yield site
    loop.call_soon_threadsafe(stop.set)
    thread.join(10)
    loop.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def fetcher() -> AsyncIterator[Fetcher]:
    """A fetcher whose browser all tests share."""
    async with Fetcher(FetchOptions(timeout_s=20)) as fetcher:
        yield fetcher
