"""JavaScript: whether a person can see an element, and a text right inside it; if not, why."""

from __future__ import annotations

VISIBILITY = r"""
  const FAINT = 0.05, ALIKE = 12, FAR = 2000;

  const partsOf = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const alphaOf = (color) => (color === "transparent" ? 0 : partsOf(color)[3] ?? 1);
  const isTransparent = (color) => alphaOf(color) < FAINT;

  // Whether two colours are the same to the eye: no channel differs by more than a shade.
  function isAlike(color, other) {
    if (other === null || color === other) return color === other;
    const p = partsOf(color), q = partsOf(other);
    return /^rgb/.test(color) && alphaOf(color) === 1 && [0, 1, 2].every((n) => Math.abs(p[n] - q[n]) < ALIKE);
  }
  const isAbsolute = (cs) => cs.position === "absolute" || cs.position === "fixed";

  function clipsAll(cs) {
    if (/^(inset\((50|100)%|circle\(0)/.test(cs.clipPath)) return true;
    if (!isAbsolute(cs) || !cs.clip.startsWith("rect(")) return false;
    const [top, right, bottom, left] = cs.clip.match(/-?[\d.]+|auto/g).map(parseFloat);
    return bottom - top <= 1 || right - left <= 1;
  }

  // Why nothing in an element can be seen, wherever it is placed; null if it can.
  function boxReason(cs) {
    if (parseFloat(cs.opacity) < FAINT || /opacity\(0(\.0+)?%?\)/.test(cs.filter)) return "opacity";
    return clipsAll(cs) ? "clip" : null;
  }

  function cutsOff(el, cs) {
    if (INLINE.test(cs.display) && cs.display !== "inline-block") return false;
    return (cs.overflowX !== "visible" && el.clientWidth <= 1 && el.offsetWidth <= 2) ||
           (cs.overflowY !== "visible" && el.clientHeight <= 1 && el.offsetHeight <= 2);
  }

  // Why the text right inside an element cannot be seen, though its box is there.
  function textStyleReason(cs, background) {
    if (cs.visibility !== "visible") return "visibility";
    if (parseFloat(cs.fontSize) < 3) return "font-size";
    if ((cs.webkitBackgroundClip || "").includes("text") || cs.textShadow !== "none") return null;
    const color = cs.webkitTextFillColor || cs.color;
    if (isTransparent(color)) return "transparent";
    return isAlike(color, background) ? "colour" : null;
  }

  // The colour behind an element's text; null where something positioned or an image may lie there too.
  function backgroundOf(cs, outer) {
    if (cs.backgroundImage !== "none") return null;
    if (cs.backgroundColor.startsWith("rgb(")) return cs.backgroundColor;
    return isTransparent(cs.backgroundColor) && cs.position === "static" ? outer : null;
  }

  function viewOf(doc) {
    const win = doc.defaultView, root = doc.scrollingElement || doc.documentElement;
    const style = (el) => win.getComputedStyle(el);
    const cut = [doc.documentElement, doc.body].some((el) => el && /hidden|clip/.test(style(el).overflowX));
    const rtl = style(doc.documentElement).direction === "rtl";
    const left = rtl ? root.clientWidth - root.scrollWidth : 0;
    return { win, left, right: cut ? root.clientWidth + 1000 : Infinity, width: root.clientWidth };
  }

  // Where a text stands counts from the page's own corner, however far the page and the boxes in it are scrolled.
  function placeReason(node, { view, scrolled, placed, fixed }) {
    const range = node.ownerDocument.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect(), { scrollX, scrollY } = view.win;
    if (box.width === 0 && box.height === 0) return "size";
    const x = scrollX + scrolled.x, y = scrollY + scrolled.y;
    const right = placed ? Math.min(view.right, view.width + FAR) : view.right;  // a wide table may be scrolled to
    const out = box.right + x <= view.left || box.bottom + y <= 0 || box.left + x >= right ||
      (fixed && (box.left >= view.width || box.top >= view.win.innerHeight));
    return out ? "off-screen" : null;
  }

  function scrolledBy(el, { x, y }) {
    const isPage = el === el.ownerDocument.scrollingElement;
    return isPage ? { x, y } : { x: x + el.scrollLeft, y: y + el.scrollTop };
  }

  // What an element passes on to what is in it.
  function innerState(el, name, cs, outer) {
    const inner = { ...outer, cs, display: cs.display, background: backgroundOf(cs, outer.background), own: null };
    inner.breaks = name !== "pre" && !outer.inPre && /^(pre|break-spaces)/.test(cs.whiteSpace);
    inner.inPre = outer.inPre || name === "pre";
    inner.placed = outer.placed || isAbsolute(cs);
    inner.fixed = (outer.fixed || cs.position === "fixed") && !/auto|scroll/.test(cs.overflowX + cs.overflowY);
    if (outer.escapable && isAbsolute(cs)) inner.reason = null;  // not cut off by a box that does not contain it
    if (!inner.reason) inner.escapable = false;
    inner.reason = inner.reason || boxReason(cs);
    if (!inner.reason && cutsOff(el, cs)) {
      inner.reason = "size";
      inner.escapable = cs.position === "static";
    }
    if (el.scrollTop || el.scrollLeft) inner.scrolled = scrolledBy(el, outer.scrolled);
    inner.own = inner.reason || textStyleReason(cs, inner.background);
    return inner;
  }
"""
