"""Opening what a page folds away: `details`, accordions, and the panels of tabs, all of them shown at once."""

from __future__ import annotations

import asyncio

from playwright.async_api import Page as Tab

_MOST_CLICKS = 60
_AFTER_CLICK_S = 0.15

_TOGGLES = r"""
(most) => {
  for (const el of document.querySelectorAll("details:not([open])")) el.open = true;
  const inMenu = (el) => el.closest("nav, [role=menu], [role=menubar]") || el.hasAttribute("aria-haspopup");
  const leads = (el) => el.localName === "a" && el.href && !(el.getAttribute("href") || "").startsWith("#");
  const found = document.querySelectorAll("[aria-expanded=false][aria-controls], [role=tab]");
  return [...found].filter((el) => !inMenu(el) && !leads(el)).slice(0, most);
}
"""

_CLICK = r"""
(toggles, n) => {
  const el = toggles[n];
  if (!el.isConnected || el.getAttribute("aria-expanded") === "true") return;
  el.click();
}
"""

# After each click: what the control's panel holds now, in case the next click takes it away.
_PANEL = r"""
(toggles, n) => {
  const el = toggles[n], id = el.getAttribute("aria-controls");
  const panels = id ? [el.getRootNode().getElementById(id)] : [...document.querySelectorAll("[role=tabpanel]")];
  for (const panel of panels) {
    if (!panel || !panel.checkVisibility({ visibilityProperty: true })) continue;
    const text = panel.textContent.trim();
    if (text) return { panel, text, copy: panel.cloneNode(true) };
  }
  return null;
}
"""

# All panels shown: those that are still there are unfolded, what was replaced stands as a copy beside its panel.
_SHOW = r"""
(kept) => {
  const unfold = (el) => {
    el.hidden = false;
    el.removeAttribute("aria-hidden");
    for (const [name, value] of [["visibility", "visible"], ["opacity", "1"], ["height", "auto"],
                                 ["max-height", "none"], ["position", "static"]]) {
      el.style.setProperty(name, value, "important");
    }
    if (getComputedStyle(el).display === "none") el.style.setProperty("display", "block", "important");
  };
  const last = new Map(), written = new Set();
  for (const { panel, text, copy } of kept) {
    if (!panel.isConnected || written.has(text)) continue;
    written.add(text);
    const isLive = panel.textContent.trim() === text, node = isLive ? panel : copy;
    if (!isLive) {
      copy.removeAttribute("id");
      if (last.has(panel)) last.get(panel).after(copy);
      else panel.before(copy);
    }
    unfold(node);
    if (isLive || last.has(panel)) last.set(panel, node);
  }
}
"""


async def open_folds(tab: Tab) -> None:
    """Open every `details`, and click every accordion and tab once; then all panels are shown in their places."""
    toggles = await tab.evaluate_handle(_TOGGLES, _MOST_CLICKS)
    kept = await tab.evaluate_handle("() => []")
    for n in range(await toggles.evaluate("(toggles) => toggles.length")):
        await toggles.evaluate(_CLICK, n)
        await asyncio.sleep(_AFTER_CLICK_S)
        await tab.evaluate(_KEEP, [toggles, n, kept])
    await tab.evaluate(_SHOW, kept)


_KEEP = f"""
([toggles, n, kept]) => {{
  const found = ({_PANEL.strip()})(toggles, n);
  if (found) kept.push(found);
}}
"""
