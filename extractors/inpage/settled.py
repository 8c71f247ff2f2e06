"""JavaScript: waits until the visible text rests."""

from __future__ import annotations

SETTLED = r"""
({ quietMs, limitMs }) => new Promise((resolve) => {
  const began = performance.now(), read = () => (document.body ? document.body.innerText : "");
  let text = read(), changed = began, dirty = false;
  const observer = new MutationObserver(() => { dirty = true; });
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  const timer = setInterval(() => {
    const now = performance.now();
    if (dirty) {
      dirty = false;
      const next = read();
      if (next !== text) { text = next; changed = now; }
    }
    const quiet = now - changed >= quietMs;
    if (!quiet && now - began < limitMs) return;
    clearInterval(timer);
    observer.disconnect();
    resolve({ quiet, empty: !text.trim() });
  }, 50);
})
"""
"""Resolves when the visible text has not changed for `quietMs`, or after `limitMs`: `{quiet, empty}`."""
