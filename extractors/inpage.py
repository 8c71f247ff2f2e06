"""The script that reads a rendered page inside the browser: live DOM -> HTML text that carries what only CSS knows.

What it writes is the flattened page: open shadow roots stand in place of their hosts' children, frames as
`lookstruct-frame` elements where their `iframe` stood (`snapshot` fills in those of other origins), form controls with
their present values. Code and styles are left out. Two attributes carry the layout (`tags.MARK_HIDDEN`,
`tags.MARK_FLOW`), and a space or a `br` is added where neighbouring inline texts stand apart on the screen without one
in the markup.

Hidden means, by computed style: `display: none`, `content-visibility: hidden`, the folded part of a closed `details`,
`visibility`, opacity below 0.05, clipped to nothing, a box of at most one pixel that cuts off what overflows,
off-screen, a font below 3 px, a transparent colour, or to the eye the colour of the background behind it. The mark
stands on the topmost element that is hidden as a whole; hidden text beside visible parts is wrapped in a
`lookstruct-text`.
"""

from __future__ import annotations

from lookstruct.extractors.tags import BLOCKS, MARK_FLOW, MARK_HIDDEN

_HELPERS = r"""
  const NOTHING = { seen: false, hidden: null };
  const BLOCKS = new Set("@BLOCKS@".split(" "));
  const DROPPED = new Set(("style noscript template link object embed applet canvas audio video source track map " +
    "noframes datalist").split(" "));
  const VOID = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
  const TABLE_PARTS = new Set("table thead tbody tfoot tr td th caption colgroup col".split(" "));
  const OWN_LINE = new Set("li dt dd br".split(" "));
  const SVG = "http://www.w3.org/2000/svg";
  const SVG_KEPT = new Set("svg g a text tspan textpath switch foreignobject".split(" "));
  const INLINE = /^(inline|contents|ruby)/;
  const CANVAS = "rgb(255, 255, 255)";

  const escapeText = (s) => s.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const escapeValue = (s) => s.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");

  // Links of frames and of further pages start from there, so they are written as absolute ones.
  const isElsewhere = (el) => limits.inner || el.ownerDocument !== document;

  function attributes(el, extra) {
    let text = "";
    for (const { name, value } of el.attributes) {
      if (!/^[A-Za-z_][\w:.-]*$/.test(name) || /^(on|style$|srcset$|data-lookstruct-)/.test(name)) continue;
      if (name in extra) continue;
      const own = isElsewhere(el) && /^(href|src)$/.test(name) && typeof el[name] === "string" ? el[name] : value;
      const short = /^data:/i.test(own) && own.length > 200 ? "data:," : own;
      text += ` ${name}="${escapeValue(short)}"`;
    }
    for (const name in extra) if (extra[name] !== null) text += ` ${name}="${escapeValue(extra[name])}"`;
    return text;
  }

  // The values that a person sees in a control, where they differ from the markup; passwords never leave the page.
  function currentValue(el, name) {
    if (name === "option") return { selected: el.selected ? "" : null };
    if (name !== "input") return {};
    if (/^(checkbox|radio)$/.test(el.type)) return { checked: el.checked ? "" : null };
    if (/^(password|hidden|file)$/.test(el.type)) return { value: null };
    return { value: el.value || null };
  }

  function childrenOf(el, name) {
    if (el.shadowRoot) return el.shadowRoot.childNodes;
    const assigned = name === "slot" && el.assignedNodes ? el.assignedNodes({ flatten: true }) : [];
    return assigned.length ? assigned : el.childNodes;
  }
"""

_VISIBILITY = r"""
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

_LAYOUT = r"""
  function rectsOf(node, from, to) {
    const range = node.ownerDocument.createRange();
    range.setStart(node, from);
    range.setEnd(node, to);
    return range.getClientRects();
  }

  const overlapOf = (p, q) => Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
  const lowerOf = (p, q) => Math.min(p.height, q.height);

  // What stands on the screen between two texts that touch in the markup: nothing, a space, or a line end.
  function between(before, node, boxed) {
    const end = before.data.trimEnd().length;
    const ends = rectsOf(before, Math.max(end - 1, 0), end), starts = rectsOf(node, 0, 1);
    if (!ends.length || !starts.length) return "";
    const p = ends[ends.length - 1], q = starts[0];
    if (overlapOf(p, q) < 0.3 * lowerOf(p, q)) return boxed ? "<br>" : "";
    if (Math.max(q.left - p.right, p.left - q.right) > 0.15 * lowerOf(p, q)) return " ";
    const resized = p.height > 1.2 * q.height || q.height > 1.2 * p.height;  // 12 and small 99 are not 1299
    return resized && /\d$/.test(before.data) && /^\d/.test(node.data) ? " " : "";
  }

  const MOST_CELLS = 60;  // of a grid among which the other cells of a row are sought
  const styleOf = (el) => el.ownerDocument.defaultView.getComputedStyle(el);
  const isElement = (node) => node.nodeType === Node.ELEMENT_NODE;

  // Whether a flex or grid container may show its children in another order than they are written.
  function reorders(cs, boxes) {
    if (!/flex|grid/.test(cs.display) || boxes.length < 2) return false;
    if (cs.display.includes("flex") && cs.flexDirection.endsWith("reverse")) return true;
    if (cs.display.includes("grid") && /column|dense/.test(cs.gridAutoFlow)) return true;
    return boxes.some(({ el }) => {
      const { order, gridRowStart, gridColumnStart } = styleOf(el);
      return order !== "0" || (cs.display.includes("grid") && gridRowStart + gridColumnStart !== "autoauto");
    });
  }

  // Boxes in rows from top to bottom, each row from its beginning to its end.
  function inRows(boxes, rtl) {
    const rows = [];
    for (const item of [...boxes].sort((a, b) => a.box.top - b.box.top)) {
      const row = rows[rows.length - 1];
      if (row && overlapOf(row[0].box, item.box) > 0.5 * lowerOf(row[0].box, item.box)) row.push(item);
      else rows.push([item]);
    }
    const across = (a, b) => (rtl ? b.box.right - a.box.right : a.box.left - b.box.left);
    return rows.flatMap((row) => row.sort(across));
  }

  // What floats to the end of a line is read after what stands beside it, however it is written.
  function floatsLast(nodes, side) {
    const rest = [...nodes];
    for (let n = rest.length - 2; n >= 0; n--) {
      if (!isElement(rest[n]) || styleOf(rest[n]).float !== side) continue;
      const box = rest[n].getBoundingClientRect();
      let end = n + 1;
      while (end < rest.length && standsBeside(rest[end], box)) end++;
      rest.splice(end - 1, 0, ...rest.splice(n, 1));
    }
    return rest;
  }

  function standsBeside(node, box) {
    if (!isElement(node) && !/\S/.test(node.data || "")) return true;
    const range = node.ownerDocument.createRange();
    range.selectNode(node);
    const other = range.getBoundingClientRect();
    return other.height === 0 || overlapOf(box, other) > 0.5 * lowerOf(box, other);
  }

  // The children in the order in which a person reads them.
  function asRead(el, children, cs) {
    const nodes = [...children], elements = nodes.filter(isElement), rtl = cs.direction === "rtl";
    if (/flex|grid/.test(cs.display)) {
      if (nodes.some((node) => !isElement(node) && /\S/.test(node.data || ""))) return nodes;
      const boxes = elements.map((child) => ({ el: child, box: child.getBoundingClientRect() }));
      const shown = boxes.filter(({ box }) => box.height > 0);
      if (!reorders(cs, shown)) return nodes;
      const unseen = boxes.filter(({ box }) => !box.height);
      return [...inRows(shown, rtl), ...unseen].map((item) => item.el);
    }
    const side = rtl ? "left" : "right";
    return elements.some((child) => styleOf(child).float === side) ? floatsLast(nodes, side) : nodes;
  }

  // A short leaf in a row of them, as label and value often are, reads as part of one line.
  function isRowItem(el, outerDisplay, cs) {
    const floats = [el, el.previousElementSibling, el.nextElementSibling].some((e) => e && styleOf(e).float !== "none");
    const inRow = floats || /flex|grid/.test(outerDisplay);
    if (!inRow || el.childElementCount > 3 || el.textContent.length > 100) return false;
    for (const child of el.children) if (BLOCKS.has(child.localName) || child.localName === "br") return false;
    const near = [el.previousElementSibling || el.nextElementSibling || (cs.float !== "none" && el.parentElement)];
    const all = /grid/.test(outerDisplay) && el.parentElement && el.parentElement.childElementCount <= MOST_CELLS;
    const q = el.getBoundingClientRect();
    return q.height > 0 && (all ? [...el.parentElement.children] : near).some((other) => {
      const p = other && other !== el ? other.getBoundingClientRect() : null;
      return p && overlapOf(p, q) > 0.5 * lowerOf(p, q);
    });
  }

  // How an element flows where that is not what its tag does by default: "block", "inline", or null.
  function flowOf(el, name, cs, outer) {
    if (TABLE_PARTS.has(name) || OWN_LINE.has(name)) return null;
    const isBlock = !INLINE.test(cs.display) && !isRowItem(el, outer.display, cs);
    return isBlock === BLOCKS.has(name) ? null : isBlock ? "block" : "inline";
  }
"""

_WRITER = r"""
  const out = [], frames = [];
  let nNodes = 0, nVisible = 0, truncated = false;
  let last = null;      // the text node written last, while nothing stands between it and what comes
  let boxed = false;    // a box of its own (inline-block, flex item) began or ended since

  function part() { last = null; boxed = false; }

  function writeText(node, state) {
    const text = node.data;
    if (!text) return null;
    if (!/\S/.test(text)) {
      out.push(state.breaks && text.includes("\n") ? "<br>" : " ");
      part();
      return null;
    }
    const reason = state.own || (state.view ? placeReason(node, state) : null);
    if (last && state.view && last.ownerDocument === node.ownerDocument && !/^\s/.test(text)) {
      out.push(between(last, node, boxed));
    }
    last = /\s$/.test(text) ? null : node;
    boxed = false;
    const escaped = escapeText(text), written = state.breaks ? escaped.replace(/\r?\n/g, "<br>") : escaped;
    if (reason) out.push(`<lookstruct-text @HIDDEN@="${reason}">`, written, "</lookstruct-text>");
    else out.push(written);
    if (!reason) nVisible += text.trim().length;
    return reason;
  }

  function unwrapText(at) {
    while (!out[at].startsWith("<lookstruct-text ")) at++;
    out[at] = out[at + 2] = "";
  }

  // Writes one element; returns whether something in it can be seen, and why something cannot.
  function write(el, state, depth) {
    const name = el.localName;
    if (++nNodes > limits.nodes || depth > limits.depth) { truncated = true; return NOTHING; }
    if (DROPPED.has(name) || (name === "script" && !/json/i.test(el.type))) return NOTHING;
    if (el.namespaceURI === SVG && !SVG_KEPT.has(name.toLowerCase())) return NOTHING;
    if (name === "iframe" || name === "frame") return writeFrame(el, state, depth);
    if (!state.view || name === "head") return writeUnseen(el, name, {}, state, depth);
    const cs = state.view.win.getComputedStyle(el);
    const gone = cs.display === "none" ? "display" : cs.contentVisibility === "hidden" ? "content-visibility" : null;
    if (!gone) return writeSeen(el, name, cs, state, depth);
    writeUnseen(el, name, { "@HIDDEN@": gone }, state, depth);
    return { seen: false, hidden: gone };
  }

  // The head, and what is not laid out: written as it is.
  function writeUnseen(el, name, extra, state, depth) {
    out.push(`<${name}${attributes(el, { ...currentValue(el, name), ...extra })}>`);
    if (VOID.has(name)) return NOTHING;
    const inner = { ...state, view: null, own: null };
    if (name === "script") out.push(el.textContent);
    else if (name === "title" || name === "textarea") out.push(escapeText(name === "title" ? el.text : el.value));
    else for (const child of childrenOf(el, name)) {
      if (child.nodeType === Node.ELEMENT_NODE) write(child, inner, depth + 1);
      else if (child.nodeType === Node.TEXT_NODE) out.push(escapeText(child.data));
    }
    out.push(`</${name}>`);
    return NOTHING;
  }

  function writeSeen(el, name, cs, outer, depth) {
    const inner = innerState(el, name, cs, outer);
    const flow = flowOf(el, name, cs, outer);
    const ownLine = flow === "block" || (flow === null && BLOCKS.has(name)) || name === "br";
    const edge = () => { if (ownLine) part(); else if (!/^(inline|contents)$/.test(cs.display)) boxed = true; };
    edge();
    const start = out.push("") - 1;
    const isLeaf = VOID.has(name) || name === "textarea" || name === "select";
    const result = isLeaf ? writeLeaf(el, name, inner) : writeChildren(el, name, inner, depth);
    const extra = currentValue(el, name);
    if (flow) extra["@FLOW@"] = flow;
    if (result.hidden && !result.seen) {
      extra["@HIDDEN@"] = result.hidden;
      result.wrapped.forEach(unwrapText);
    }
    out[start] = `<${name}${attributes(el, extra)}>` + (name === "pre" ? "\n" : "");
    if (!VOID.has(name)) out.push(`</${name}>`);
    edge();
    return result;
  }

  function writeChildren(el, name, inner, depth) {
    const folds = name === "details" && !el.open;
    const summary = folds ? el.querySelector(":scope > summary") : null;
    const result = { seen: false, hidden: null, wrapped: [] };
    for (const child of asRead(el, childrenOf(el, name), inner.cs)) {
      const state = folds && child !== summary ? { ...inner, reason: "details", own: "details" } : inner;
      if (child.nodeType === Node.ELEMENT_NODE) {
        const { seen, hidden } = write(child, state, depth + 1);
        result.seen = result.seen || seen;
        result.hidden = result.hidden || hidden;
      } else if (child.nodeType === Node.TEXT_NODE) {
        const at = out.length, reason = writeText(child, state);
        if (reason) result.wrapped.push(at);
        else if (/\S/.test(child.data)) result.seen = true;
        result.hidden = result.hidden || reason;
      }
    }
    return result;
  }

  function writeLeaf(el, name, inner) {
    if (name === "textarea") out.push("\n", escapeText(el.value));
    if (name === "select") for (const option of el.options) {
      out.push(`<option${attributes(option, currentValue(option, "option"))}>${escapeText(option.text)}</option>`);
    }
    if (!/^(img|input|textarea|select)$/.test(name)) return { ...NOTHING, wrapped: [] };
    part();
    if (inner.own) return { seen: false, hidden: inner.own, wrapped: [] };
    const text = name === "img" ? el.alt : /^(hidden|password|file)$/.test(el.type) ? "" : el.value || "";
    nVisible += text.trim().length;
    return { seen: true, hidden: null, wrapped: [] };
  }

  function frameReason(el, state) {
    if (!state.view) return null;
    const cs = state.view.win.getComputedStyle(el), box = el.getBoundingClientRect();
    if (cs.display === "none") return "display";
    const reason = innerState(el, "iframe", cs, state).reason || (cs.visibility === "visible" ? null : "visibility");
    return reason || (box.width < 10 || box.height < 10 ? "size" : null);
  }

  function writeFrame(el, state, depth) {
    const extra = { "@FLOW@": "block" }, reason = frameReason(el, state);
    if (reason) extra["@HIDDEN@"] = reason;
    out.push(`<lookstruct-frame${attributes(el, { ...extra, srcdoc: null })}>`);
    part();
    const before = nVisible, doc = el.contentDocument;  // null for a frame of another origin
    if (doc && doc.body) writeBody(doc, stateOf(reason || !state.view ? null : viewOf(doc)), depth);
    else if (!reason && state.view) out.push(limits.token.replace("#", frames.push(el) - 1));
    if (reason) nVisible = before;
    out.push("</lookstruct-frame>");
    part();
    return { seen: !reason, hidden: reason };
  }

  function writeBody(doc, state, depth) {
    for (const child of doc.body.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE) write(child, state, depth + 1);
      else if (child.nodeType === Node.TEXT_NODE) writeText(child, state);
    }
  }

  function stateOf(view) {
    return { view, scrolled: { x: 0, y: 0 }, reason: null, own: null, escapable: false, background: CANVAS,
             display: "block", breaks: false, inPre: false, placed: false, fixed: false };
  }
"""

SNAPSHOT = (
    "(limits) => {"
    + _HELPERS
    + _VISIBILITY
    + _LAYOUT
    + _WRITER
    + r"""
  if (limits.inner) {
    if (document.body) writeBody(document, stateOf(viewOf(document)), 0);
  } else {
    out.push("<!DOCTYPE html>\n");
    if (document.documentElement) write(document.documentElement, stateOf(viewOf(document)), 0);
  }
  return { html: out.join(""), nVisible, nNodes, truncated, characterSet: document.characterSet, frames };
}"""
)
SNAPSHOT = (
    SNAPSHOT.replace("@HIDDEN@", MARK_HIDDEN).replace("@FLOW@", MARK_FLOW).replace("@BLOCKS@", " ".join(sorted(BLOCKS)))
)
"""Takes `{nodes, depth, token, inner}`: how much to read at most, the text that stands for the `#`-th frame of another
origin, and whether only what is in the body is wanted, to stand inside another page. Returns `{html, nVisible, nNodes,
truncated, characterSet, frames}`, the last the elements of those frames."""

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
