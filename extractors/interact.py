"""What a person would do before reading on: answer a banner, open what is folded, scroll, ask for more, run a script.

Each is done only on request. What is cut short, by the limit or for want of time, is said in a note.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.async_api import ElementHandle, JSHandle
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as Tab

from lookstruct.extractors.consent import ACCEPT, MOST_CHARS, NAMES, REJECT, TOPIC
from lookstruct.extractors.folds import open_folds
from lookstruct.extractors.neterrors import first_line
from lookstruct.extractors.options import FetchOptions
from lookstruct.extractors.scrolled import KEEPER
from lookstruct.extractors.traffic import Traffic
from lookstruct.extractors.waits import settle
from lookstruct.schemas.errors import UsageError

_STEP_MS = 120  # that a page must be quiet between two screens
_MOMENT_S = 0.6
_MORE_S = 1.5  # at the end of the page: how long more may take to be asked for
_RESERVE_S = 3.0  # of the page's time, kept for reading it

_CONSENT = r"""
({ names, topic, words, most }) => {
  const named = new RegExp(names, "i"), about = new RegExp(topic, "i"), wanted = new RegExp(words, "i");
  const shown = (el) => el.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const roots = [document];
  for (const el of document.querySelectorAll("*")) if (el.shadowRoot) roots.push(el.shadowRoot);
  const asks = (el) => {
    for (let n = 0; el && el.nodeType === Node.ELEMENT_NODE && n < 8; n++, el = el.parentElement) {
      const text = el.textContent;
      if (text.length > most) return false;
      if (named.test(`${el.id} ${el.getAttribute("class") || ""}`) || about.test(text)) return true;
    }
    return false;
  };
  for (const root of roots) {
    for (const el of root.querySelectorAll("button, [role=button], input[type=button], input[type=submit], a")) {
      const said = (el.value || el.textContent || "").trim();
      if (said.length > 60 || !wanted.test(said) || !shown(el) || !asks(el)) continue;
      if (el.localName === "a" && !/^(#|$)/.test(el.getAttribute("href") || "")) continue;
      el.click();
      return true;
    }
  }
  return false;
}
"""

_MORE = r"""
({ selector, words }) => {
  const wanted = new RegExp(words, "i");
  const leads = (el) => el.localName === "a" && !/^(#|javascript:|$)/i.test(el.getAttribute("href") || "");
  const usable = (el) => !el.disabled && el.getAttribute("aria-disabled") !== "true" && !leads(el) &&
    el.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const all = "button, [role=button], input[type=button], a";
  const found = [...document.querySelectorAll(selector || all)].filter((el) =>
    usable(el) && (selector || wanted.test((el.value || el.innerText || "").trim())));
  if (!found.length) return false;
  const el = found[found.length - 1];
  el.scrollIntoView({ block: "center", behavior: "instant" });
  el.click();
  return true;
}
"""
_MORE_WORDS = (
    r"^\W*(?:(?:load|show|view|see|display)(?: \d+| some)? more(?: [\w-]+){0,3}|more (?:results|items|products|posts)|"
    r"(?:mehr|weitere)(?: [\w-]+){0,2}(?: (?:laden|anzeigen|zeigen))?|(?:afficher|charger|voir)(?: [\w-]+)? plus"
    r"(?: [\w-]+){0,2}|(?:ver|mostrar|cargar) más(?: [\w-]+){0,2}|(?:mostra|carica) (?:altro|altri)|"
    r"meer (?:laden|tonen)|(?:visa|ladda) fler|vis (?:mere|flere)|(?:pokaż|załaduj) więcej|"
    r"もっと見る|加载更多|查看更多)\W*$"
)


@dataclass(frozen=True, slots=True)
class Hands:
    """One tab and what is known of it; `left_s` tells how much of the page's time is left."""

    tab: Tab
    traffic: Traffic
    options: FetchOptions
    left_s: Callable[[], float]

    @property
    def has_time(self) -> bool:
        """Whether there is time for another step, and then for reading."""
        return self.left_s() > _RESERVE_S

    async def settle(self, limit_s: float, *, quiet_ms: int = _STEP_MS) -> bool:
        """Wait until the page rests, within its time."""
        return await settle(
            self.tab, self.traffic, max(min(limit_s, self.left_s() - _RESERVE_S), 0.1), quiet_ms=quiet_ms
        )

    async def rest(self) -> None:
        """Wait until the page rests, but only for traffic longer than a moment: a clock never rests."""
        if not await self.settle(_MOMENT_S) and self.traffic.n_pending:
            await self.settle(self.options.settle_s)


def wants_hands(options: FetchOptions) -> bool:
    """Whether anything is to be done to the page before it is read."""
    return bool(
        options.consent != "ignore" or options.open_folds or options.scroll or options.load_more or options.script
    )


async def interact(hands: Hands) -> list[str]:
    """Do all that the options ask for; returns notes about what was not done to the end."""
    options, notes = hands.options, list[str]()
    if options.consent != "ignore" and await _answer_banner(hands.tab, options.consent == "accept"):
        await hands.settle(options.settle_s, quiet_ms=300)
    if options.load_more is not None:
        notes += await _load_more(hands, options.load_more)
    if options.scroll:
        notes += await _scroll(hands)
    if options.open_folds:
        await open_folds(hands.tab)
    if options.script is not None:
        await _run(hands, options.script)
    return notes


async def _answer_banner(tab: Tab, accept: bool) -> bool:
    """Click the button that gives this answer, in whichever frame it is; whether there was one."""
    asked = {"names": NAMES, "topic": TOPIC, "words": ACCEPT if accept else REJECT, "most": MOST_CHARS}
    for frame in tab.frames:
        try:
            if await frame.evaluate(_CONSENT, asked):
                return True
        except PlaywrightError:  # a frame that is gone asks nothing
            continue
    return False


async def _load_more(hands: Hands, selector: str) -> list[str]:
    """Click until there is nothing to click, nothing comes of it, or the limit is reached."""
    asked = {"selector": None if selector == "auto" else selector, "words": _MORE_WORDS}
    for _ in range(hands.options.max_clicks):
        before = await _size(hands.tab)
        if not hands.has_time:
            return ["loading more stopped for want of time: raise timeout_s"]
        try:
            if not await hands.tab.evaluate(_MORE, asked):
                return []
        except PlaywrightError as exc:
            if "valid selector" not in str(exc):
                raise
            raise UsageError(f"load_more is {selector!r}, which is no CSS selector: correct it, or use auto") from exc
        if not await _grows(hands, before):
            return []
    return [f"loading more stopped after {hands.options.max_clicks} clicks: raise max_clicks for all of it"]


async def _scroll(hands: Hands) -> list[str]:
    """Scroll on while the page goes on; at its end wait whether more comes; then put back what scrolled away."""
    keeper = await hands.tab.evaluate_handle(KEEPER)
    notes = await _scroll_to_end(hands, keeper)
    await keeper.evaluate("(keeper) => { keeper.collect(); keeper.restore(); }")
    return notes


async def _scroll_to_end(hands: Hands, keeper: JSHandle) -> list[str]:
    for _ in range(hands.options.scroll):
        if not hands.has_time:
            return ["scrolling stopped for want of time: raise timeout_s"]
        await keeper.evaluate("(keeper) => keeper.collect()")
        if not await _advances(hands, keeper):
            return []
        await hands.rest()
    if await keeper.evaluate("(keeper) => { keeper.collect(); return keeper.advance(); }"):
        return [f"scrolling stopped after {hands.options.scroll} screens, and the page goes on"]
    return []


async def _advances(hands: Hands, keeper: JSHandle) -> bool:
    """Scroll on; at the end of the page wait a while whether it grows. Whether there was anything to scroll to."""
    until = asyncio.get_running_loop().time() + _MORE_S
    while not await keeper.evaluate("(keeper) => keeper.advance()"):
        if not hands.has_time or (not hands.traffic.n_pending and asyncio.get_running_loop().time() > until):
            return False
        await asyncio.sleep(0.1)
    return True


async def press(hands: Hands, button: ElementHandle) -> bool:
    """Press what leads on without an address; whether anything came of it."""
    before = await _size(hands.tab)
    await button.evaluate("(el) => el.click()")
    return await _grows(hands, before)


async def _size(tab: Tab) -> Any:
    return await tab.evaluate("() => [document.body.innerText, document.documentElement.scrollHeight]")


async def _grows(hands: Hands, before: Any) -> bool:
    """Wait for a change of the page, as long as something is under way and a little longer; whether one came."""
    until = asyncio.get_running_loop().time() + _MORE_S
    while hands.has_time:
        await hands.rest()
        try:
            if await _size(hands.tab) != before:
                return True
        except PlaywrightError as exc:  # another document is coming
            if "navigat" not in str(exc):
                raise
            return True
        if not hands.traffic.n_pending and asyncio.get_running_loop().time() > until:
            return False
        await asyncio.sleep(0.1)
    return False


async def _run(hands: Hands, script: str) -> None:
    try:
        await hands.tab.evaluate(script)
    except PlaywrightError as exc:
        raise UsageError(f"script failed on {hands.tab.url} ({first_line(exc)}): correct it") from exc
    await hands.settle(hands.options.settle_s, quiet_ms=300)
