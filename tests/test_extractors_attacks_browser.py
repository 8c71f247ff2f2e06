"""Pages that attack, in a real Chromium: nothing private is reached, and every visit ends with a page or an error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import quote

import pytest
import pytest_asyncio
from site_fixtures import Site, fetcher, site
from traps import Trap, trap

from lookstruct.extractors import Fetcher, FetchOptions, Target
from lookstruct.extractors.clean import clean
from lookstruct.extractors.egress.addresses import Address
from lookstruct.extractors.egress.dialer import Streams, connect_to
from lookstruct.extractors.egress.proxy import EgressProxy
from lookstruct.schemas.errors import BlockedByPolicy, FetchError, PageTooLarge

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
__all__ = ["fetcher", "site"]

EVERYTHING = FetchOptions(block=frozenset(), settle_s=2, retries=0)
OTHERS = FetchOptions(retries=0, for_others=True, allow_private=("127.0.0.1",))
SMALL = FetchOptions(retries=0, max_bytes=3_000_000, settle_s=15)
HOSTS = (
    *("127.0.0.2", "localhost", "0.0.0.0", "2130706434", "0x7f000002", "0x7f.2", "0177.0.0.2", "127.2", "127.0.2"),
    *("[::1]", "[::ffff:127.0.0.2]", "[::ffff:7f00:2]", "[64:ff9b::7f00:2]", "[2002:7f00:2::]", "[::]", "127.0.0.2."),
)


@pytest.fixture(scope="module")
def lair() -> Iterator[Trap]:
    with trap() as set_up:
        yield set_up


async def read(fetcher: Fetcher, url: str, options: FetchOptions = EVERYTHING) -> str:
    return clean(await fetcher.fetch(url, options)).text


# --- addresses that are not public


@pytest.mark.parametrize("host", ["127.0.0.2", "localhost", "[::ffff:127.0.0.2]"])
async def test_a_redirect_to_this_machine_is_refused(fetcher: Fetcher, site: Site, lair: Trap, host: str) -> None:
    with pytest.raises(BlockedByPolicy, match="which is not a public address: pass --allow-private"):
        await fetcher.fetch(site.url(f"/redirect?to=http://{host}:{lair.port}/"), EVERYTHING)
    assert lair.caught == []


async def test_no_spelling_of_this_machine_is_reached(fetcher: Fetcher, site: Site, lair: Trap) -> None:
    frames = [f"<iframe src='/redirect?to=http://{host}:{lair.port}/'></iframe>" for host in HOSTS]
    pictures = [f"<img src='http://{host}:{lair.port}/'>" for host in HOSTS]
    page = await fetcher.fetch(site.page(f"<p>text{''.join(frames + pictures)}"), EVERYTHING)
    refused = next(note for note in page.notes if "not public: refused" in note)
    assert int(refused.split()[0]) >= len(HOSTS)
    assert lair.caught == []


@pytest.mark.parametrize(
    "markup",
    [
        "<meta http-equiv=refresh content='0; {}'><p>text",
        "<p>text<script>location = '{}'</script>",
        "<p>text<form action='{}'></form><script>document.forms[0].submit()</script>",
        "<p>text<a href='{}' id=a>x</a><script>a.click()</script>",
    ],
)
async def test_a_page_that_leaves_for_this_machine_is_refused(
    fetcher: Fetcher, site: Site, lair: Trap, markup: str
) -> None:
    with pytest.raises(BlockedByPolicy, match=r"127\.0\.0\.2"):
        await fetcher.fetch(site.page(markup.format(f"http://127.0.0.2:{lair.port}/")), EVERYTHING)
    assert lair.caught == []


SUBRESOURCES = """<!doctype html><title>t</title><p id=text>text
<link rel=preconnect href=URL><link rel=prefetch href=URL/1><link rel=preload as=script href=URL/2>
<link rel=dns-prefetch href=URL><link rel=stylesheet href=URL/3><link rel=icon href=URL/4>
<script type=speculationrules>{"prerender": [{"source": "list", "urls": ["URL/5"], "eagerness": "immediate"}]}</script>
<img src=URL/6><img srcset="URL/7 2x"><iframe src=URL/8></iframe><object data=URL/9></object><embed src=URL/10>
<video src=URL/11 autoplay poster=URL/12></video><audio src=URL/13 autoplay></audio><script src=URL/14></script>
<svg><image href=URL/15 /><use href="URL/16#x"/></svg><div style="background: url(URL/17)">.</div>
<script type=module>import("URL/18").catch(() => 0)</script><track src=URL/19>
<script>
fetch("URL/20", {mode: "no-cors"}).catch(() => 0)
const request = new XMLHttpRequest(); request.open("POST", "URL/21"); request.send("x")
navigator.sendBeacon("URL/22", "x")
new EventSource("URL/23")
new WebSocket("URL/24".replace("http", "ws"))
new Worker(URL.createObjectURL(new Blob(["fetch('URL/25'); new WebSocket('URL/26'.replace('http', 'ws'))"])))
try { new SharedWorker(URL.createObjectURL(new Blob(["fetch('URL/27')"]))) } catch {}
document.body.append(Object.assign(document.createElement("iframe"), {srcdoc: "<img src='URL/28'>"}))
new FontFace("f", "url(URL/29)").load().catch(() => 0)
const link = Object.assign(document.createElement("a"), {href: "#x", ping: "URL/30"})
document.body.append(link)
link.click()
try { new WebTransport("URL/31".replace("http", "https")) } catch {}
</script>"""


async def test_nothing_that_a_page_loads_reaches_this_machine(fetcher: Fetcher, site: Site, lair: Trap) -> None:
    markup = SUBRESOURCES.replace("URL/", f"http://127.0.0.2:{lair.port}/").replace(
        "=URL>", f"=http://127.0.0.2:{lair.port}>"
    )
    page = await fetcher.fetch(site.page(markup), EVERYTHING)
    assert "text" in clean(page).text
    assert any(f"not public: refused (127.0.0.2:{lair.port})" in note for note in page.notes)
    assert lair.caught == []


async def test_a_page_may_load_from_where_it_was_typed_and_from_what_is_allowed(fetcher: Fetcher, site: Site) -> None:
    other = site.base.replace("127.0.0.1", "localhost")
    body = f"""<p id=a><p id=b><iframe src='{other}/inner.html'></iframe><script>
    fetch('/api/item').then(() => a.append('own'))
    </script>"""
    page = await fetcher.fetch(site.page(body), EVERYTHING)
    assert clean(page).text == "own"
    assert any(other.removeprefix("http://") in note for note in page.notes)
    page = await fetcher.fetch(site.page(body), EVERYTHING.model_copy(update={"allow_private": ("localhost",)}))
    assert clean(page).text.startswith("own\nframed link")
    assert not any("refused" in note for note in page.notes)


async def test_requests_for_others_do_not_reach_even_a_typed_local_address(fetcher: Fetcher, site: Site) -> None:
    site.requests.clear()
    with pytest.raises(BlockedByPolicy, match="served for others reach public addresses only"):
        await fetcher.fetch(site.url("/inner.html"), OTHERS)
    assert set(site.requests) <= {"/robots.txt"}


async def test_what_a_person_did_not_type_may_not_be_local(fetcher: Fetcher, site: Site, lair: Trap) -> None:
    led_to = Target("url", f"http://127.0.0.2:{lair.port}/", typed=site.url("/sitemap.xml"))
    with pytest.raises(BlockedByPolicy, match="not a public address"):
        await fetcher.fetch(led_to, EVERYTHING)
    assert lair.caught == []


async def test_html_that_was_given_reaches_nothing_local(fetcher: Fetcher, lair: Trap, tmp_path: Path) -> None:
    markup = f"<p>text<img src=http://127.0.0.2:{lair.port}/><iframe src=http://localhost:{lair.port}/></iframe>"
    (tmp_path / "page.html").write_text(markup)
    for target in (Target.html(markup), str(tmp_path / "page.html")):
        page = await fetcher.fetch(target, EVERYTHING.model_copy(update={"render": True}))
        assert any("refused" in note for note in page.notes)
    assert lair.caught == []


class Rebinding:
    """evil.example: the attacker's server (a public address, played by the test site) at first, this machine later."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.n_asked = 0
        self.dialled: list[str] = []

    async def resolve(self, name: str) -> tuple[Address, ...]:
        del name
        self.n_asked += 1
        return (ip_address("93.184.215.14" if self.n_asked == 1 else "127.0.0.1"),)

    async def connect(self, address: Address, port: int) -> Streams:
        self.dialled.append(str(address))
        return await connect_to(ip_address("127.0.0.1"), port)


@pytest_asyncio.fixture(loop_scope="session")
async def rebinding(site: Site) -> AsyncIterator[tuple[Fetcher, Rebinding]]:
    names = Rebinding(site)
    options = EVERYTHING.model_copy(update={"ignore_robots": True})  # it would be the first to ask for the name
    async with Fetcher(options, egress=EgressProxy(names.resolve, names.connect)) as fetcher:
        yield fetcher, names


async def test_a_name_that_is_rebound_to_this_machine_leads_nowhere(
    rebinding: tuple[Fetcher, Rebinding], site: Site
) -> None:
    fetcher, names = rebinding
    base = site.base.replace("127.0.0.1", "evil.example")
    script = """let n = 0
    const more = () => n++ < 5 && fetch('/api/item').then(r => r.text()).then(t => { a.append(n, ' '); more() })
    more()"""
    page = await fetcher.fetch(f"{base}/html?body={quote(f'<p id=a><script>{script}</script>')}")
    assert clean(page).text == "1 2 3 4 5"
    assert (names.n_asked, set(names.dialled)) == (1, {"93.184.215.14"})
    frames = f"<p>text<iframe src={base}/inner.html></iframe>"
    page = await fetcher.fetch(site.page(frames))  # another page: the name is asked for again, and leads here now
    assert any("evil.example" in note and "refused" in note for note in page.notes)
    assert set(names.dialled) == {"93.184.215.14", "127.0.0.1"}  # the latter for the page that was typed
    assert clean(page).text == "text"


async def test_webrtc_reaches_nothing(fetcher: Fetcher, site: Site, lair: Trap) -> None:
    place = f"127.0.0.2:{lair.port}"
    urls = [f"stun:{place}", f"turn:{place}?transport=udp", f"turn:{place}?transport=tcp", f"turns:{place}"]
    script = f"""
    const iceServers = [{{urls: {urls}, username: "u", credential: "c"}}]
    const peer = new RTCPeerConnection({{iceServers, iceCandidatePoolSize: 2}})
    peer.createDataChannel("x")
    peer.onicecandidate = event => event.candidate && b.append(event.candidate.candidate)
    peer.createOffer().then(offer => peer.setLocalDescription(offer))
    """
    text = await read(fetcher, site.page(f"<p>text<p id=b><script>{script}</script>"))
    assert "text" in text
    assert "127.0.0" not in text
    assert lair.caught == []


# --- schemes


@pytest.mark.parametrize(
    "to", ["file:///etc/passwd", "data:text/html,<p>x", "javascript:alert(1)", "view-source:http://a.example/"]
)
async def test_a_redirect_to_another_scheme_is_refused(fetcher: Fetcher, site: Site, to: str) -> None:
    with pytest.raises(FetchError):
        await fetcher.fetch(site.url(f"/redirect?to={to}"), EVERYTHING)


@pytest.mark.parametrize("to", ["file:///etc/hostname", "view-source:file:///etc/hostname", "chrome://version"])
async def test_a_page_does_not_get_to_files(fetcher: Fetcher, site: Site, to: str) -> None:
    secret = Path("/etc/hostname").read_text().strip()
    body = f"""<p id=p>text<iframe src='{to}'></iframe><script>
    fetch('{to}').then(r => r.text()).then(t => p.append(t), () => 0)
    window.open('{to}')
    setTimeout(() => location = '{to}')
    </script>"""
    assert secret not in await read(fetcher, site.page(body))


# --- more than anyone can read


@pytest.mark.parametrize("path", ["/stream?mb=10000", "/stream?mb=10000&length=1", "/bomb"])
async def test_ten_gigabytes_and_zip_bombs_are_stopped(fetcher: Fetcher, site: Site, path: str) -> None:
    with pytest.raises(PageTooLarge, match="larger than 3 MB"):
        await fetcher.fetch(site.url(path), FetchOptions(retries=0, max_bytes=3_000_000, timeout_s=20))


async def test_a_stream_behind_the_page_is_stopped(fetcher: Fetcher, site: Site) -> None:
    body = """<p>text<script>
    new Worker(URL.createObjectURL(new Blob(["fetch('BASE/stream?mb=10000').then(r => r.text())"])))
    </script>"""
    with pytest.raises(PageTooLarge):
        await fetcher.fetch(
            site.page(body.replace("BASE", site.base)), FetchOptions(retries=0, max_bytes=3_000_000, settle_s=15)
        )


@pytest.mark.parametrize("path", ["/loop", "/onward?n=0"])
async def test_an_endless_redirect_ends(fetcher: Fetcher, site: Site, path: str) -> None:
    with pytest.raises(FetchError, match="redirects without end"):
        await fetcher.fetch(site.url(path), EVERYTHING)


@pytest.mark.slow
async def test_a_page_that_reloads_itself_forever_ends(fetcher: Fetcher, site: Site) -> None:
    body = "<p>text<script>setTimeout(() => location.search += 'x', 20)</script>"
    with suppress(FetchError):
        assert "text" in await read(fetcher, site.page(body), FetchOptions(retries=0, timeout_s=5, settle_s=1))


async def test_a_dom_that_grows_without_end_is_read_in_part(fetcher: Fetcher, site: Site) -> None:
    body = """<p>text<script>
    const more = () => Array.from({length: 500}, () => document.createElement('p'))
    setInterval(() => document.body.append(...more()), 10)
    </script>"""
    page = await fetcher.fetch(site.page(body), FetchOptions(settle_s=1, max_nodes=5000))
    assert clean(page).text == "text"


@pytest.mark.parametrize(
    "script",
    ["for(;;) document.body.append('x')", "for(;;) alert(1)", "for(;;);", "for(;;) window.open('/inner.html')"],
)
async def test_a_script_that_never_ends_is_left_behind(fetcher: Fetcher, site: Site, script: str) -> None:
    with pytest.raises(FetchError):
        await fetcher.fetch(site.page(f"<p>text<script>{script}</script>"), FetchOptions(retries=0, timeout_s=3))
    assert await read(fetcher, site.url("/inner.html")) != ""


async def test_a_page_that_takes_too_much_memory_is_closed_and_the_others_are_not(site: Site) -> None:
    body = """<p>text<script>
    const kept = []
    setInterval(() => kept.length < 40 && kept.push(new Uint8Array(30_000_000).fill(1)), 50)
    </script>"""
    few = FetchOptions(retries=0, page_memory_mb=300, selector="#never", timeout_s=60, ignore_robots=True)
    async with Fetcher(few) as fetcher:
        greedy, other = await asyncio.gather(
            fetcher.fetch(site.page(body)),
            fetcher.fetch(site.url("/slow?s=3"), few.model_copy(update={"selector": None})),
            return_exceptions=True,
        )
    assert isinstance(greedy, PageTooLarge)
    assert "took more than 300 MB of memory and was closed: raise page_memory_mb" in str(greedy)
    assert not isinstance(other, BaseException)


# --- nuisances


async def test_dialogs_do_not_hold_a_page_up(fetcher: Fetcher, site: Site) -> None:
    body = """<p id=p><script>
    for (let i = 0; i < 10; i++) { alert(i); confirm(i); prompt(i) }
    print()
    p.append('text')
    onbeforeunload = () => 'stay'
    </script>"""
    assert await read(fetcher, site.page(body)) == "text"


async def test_windows_are_not_opened(fetcher: Fetcher, site: Site) -> None:
    site.requests.clear()
    body = """<p id=p><script>
    let n = 0
    for (let i = 0; i < 100; i++) n += window.open('/inner.html?popup') ? 1 : 0
    p.append('text ', n)
    </script>"""
    assert await read(fetcher, site.page(body)) == "text 0"
    assert not [path for path in site.requests if path.startswith("/inner.html")]


async def test_permissions_are_denied_and_downloads_do_not_start(fetcher: Fetcher, site: Site) -> None:
    script = """
    const ask = async () => {
      for (const name of ["geolocation", "notifications", "camera", "microphone", "clipboard-read"])
        p.append((await navigator.permissions.query({name})).state, " ")
      await navigator.mediaDevices?.getUserMedia({audio: true}).then(() => p.append("heard"), () => 0)
      document.body.append(Object.assign(document.createElement("iframe"), {src: "/attachment"}))
    }
    ask()
    """
    text = await read(fetcher, site.page(f"<p id=p><script>{script}</script>"))
    assert text.split() == ["denied"] * 5


async def test_service_workers_do_not_register(fetcher: Fetcher, site: Site) -> None:
    body = """<p id=p><script>
    const told = () => p.append('text')
    navigator.serviceWorker.register('/worker.js').then(told, told)
    </script>"""
    assert await read(fetcher, site.page(body)) == "text"
    assert "/worker.js" not in site.requests


async def test_websockets_of_the_page_s_own_origin_work(fetcher: Fetcher, site: Site) -> None:
    body = """<p id=p><script>
    const socket = new WebSocket(location.origin.replace('http', 'ws') + '/inner.html')
    socket.onerror = () => p.append('answered, as no socket')
    </script>"""
    site.requests.clear()
    page = await fetcher.fetch(site.page(body), EVERYTHING)
    assert clean(page).text == "answered, as no socket"
    assert "/inner.html" in site.requests
    assert not any("refused" in note for note in page.notes)


@pytest.mark.slow
async def test_many_attacks_at_once_do_not_disturb_a_page_beside_them(fetcher: Fetcher, site: Site) -> None:
    hostile = [
        site.page("<p>a<script>for(;;) alert(1)</script>"),
        site.page("<p>b<script>for(;;);</script>"),
        site.url("/stream?mb=10000"),
    ]
    quick = FetchOptions(retries=0, timeout_s=6, max_bytes=3_000_000)
    *ends, good = await asyncio.gather(
        *(fetcher.fetch(url, quick) for url in hostile), fetcher.fetch(site.url("/inner.html")), return_exceptions=True
    )
    assert all(isinstance(end, FetchError) for end in ends)
    assert not isinstance(good, BaseException)
