"""The script that reads a rendered page inside the browser: live DOM -> HTML text that carries what only CSS knows.

What it writes is the flattened page: open shadow roots stand in place of their hosts' children, same-origin frames as
`lookstruct-frame` elements where their `iframe` stood, form controls with their present values. Code and styles are
left out. Two attributes carry the layout (`tags.MARK_HIDDEN`, `tags.MARK_FLOW`), and a space or a `br` is added where
neighbouring inline texts stand apart on the screen without one in the markup.

Hidden means, by computed style: `display: none`, `content-visibility: hidden` (a closed `details`), `visibility`,
opacity below 0.05, clipped to nothing, a box of at most one pixel that cuts off what overflows, off-screen, a font
below 3 px, a transparent colour, or the very colour of the background behind it. Text whose element has visible parts
too is wrapped in a `lookstruct-text` element. The mark stands on the topmost element that is hidden as a whole.
"""

from __future__ import annotations

from lookstruct.extractors.tags import BLOCKS, MARK_FLOW, MARK_HIDDEN

SNAPSHOT = (
    r"""
(limits) => {
  const HIDDEN = "@HIDDEN@", FLOW = "@FLOW@";
  const BLOCKS = new Set("@BLOCKS@".split(" "));
  const DROPPED = new Set(("style noscript template link object embed applet canvas audio video source track map " +
    "noframes datalist").split(" "));
  const VOID = new Set(("area base br col embed hr img input link meta param source track wbr").split(" "));
  const TABLE_PARTS = new Set("table thead tbody tfoot tr td th caption colgroup col".split(" "));
  const SVG_KEPT = new Set("svg g a text tspan textpath switch foreignobject".split(" "));
  const INLINE = /^(inline|contents|ruby)/;
  const out = [];
  let nodes = 0, visibleChars = 0, last = null, apart = true, boundary = false, truncated = false;

  const escapeText = (s) => s.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const escapeValue = (s) => s.replace(/&/g, "&amp;").replace(/"/g, "&quot;");

  function attributes(el, extra) {
    let text = "";
    for (const a of el.attributes) {
      const name = a.name;
      if (!/^[A-Za-z_][\w:.-]*$/.test(name) || /^(on|style$|srcset$|data-lookstruct-)/.test(name)) continue;
      if (name in extra) continue;
      const value = /^data:/i.test(a.value) && a.value.length > 200 ? "data:," : a.value;
      text += ` ${name}="${escapeValue(value)}"`;
    }
    for (const name in extra) if (extra[name] !== null) text += ` ${name}="${escapeValue(extra[name])}"`;
    return text;
  }

  const transparent = (color) => /^rgba\(.*,\s*0(\.0+)?\)$/.test(color) || color === "transparent";
  const opaque = (color) => /^rgb\(/.test(color);
  const clipsNothing = (cs) => /^(absolute|fixed)$/.test(cs.position) && /^rect\(/.test(cs.clip) &&
      (([t, r, b, l]) => b - t <= 1 || r - l <= 1)(cs.clip.match(/-?[\d.]+|auto/g).map(parseFloat));

  // Why all text in an element is out of sight whatever is inside; null if it is not.
  function boxReason(el, cs) {
    if (parseFloat(cs.opacity) < 0.05 || /opacity\(0(\.0+)?%?\)/.test(cs.filter)) return "opacity";
    if (clipsNothing(cs) || /^(inset\((50|100)%|circle\(0|polygon\(0(px|%)? 0(px|%)?, 0(px|%)? 0(px|%)?[,)])/.test(cs.clipPath))
      return "clip";
    return null;
  }

  function cutsOff(el, cs) {
    if (INLINE.test(cs.display) && cs.display !== "inline-block") return false;
    return (cs.overflowX !== "visible" && el.clientWidth <= 1 && el.offsetWidth <= 2) ||
           (cs.overflowY !== "visible" && el.clientHeight <= 1 && el.offsetHeight <= 2);
  }

  // Why text right inside an element is out of sight though its box is not.
  function ownReason(cs, state) {
    if (cs.visibility !== "visible") return "visibility";
    if (parseFloat(cs.fontSize) < 3) return "font-size";
    const clipped = (cs.webkitBackgroundClip || cs.backgroundClip || "").includes("text");
    const fill = cs.webkitTextFillColor || cs.color;
    if (transparent(fill)) return clipped || cs.textShadow !== "none" ? null : "transparent";
    if (!clipped && cs.textShadow === "none" && state.background !== null && fill === state.background) return "colour";
    return null;
  }

  function background(cs, outer) {
    if (cs.backgroundImage !== "none") return null;
    if (opaque(cs.backgroundColor)) return cs.backgroundColor;
    if (!transparent(cs.backgroundColor) || cs.position !== "static") return null;
    return outer;
  }

  function textReason(node, view) {
    const range = node.ownerDocument.createRange();
    range.selectNodeContents(node);
    const r = range.getBoundingClientRect();
    if (r.width === 0 && r.height === 0) return "size";
    if (r.right + view.x <= view.left || r.bottom + view.y <= 0 || r.left + view.x >= view.right) return "off-screen";
    return null;
  }

  function viewOf(doc) {
    const win = doc.defaultView, root = doc.scrollingElement || doc.documentElement;
    const rtl = win.getComputedStyle(doc.documentElement).direction === "rtl";
    const cut = [doc.documentElement, doc.body].some((e) => e && /hidden|clip/.test(win.getComputedStyle(e).overflowX));
    return {
      win, x: win.scrollX, y: win.scrollY, left: rtl ? root.clientWidth - root.scrollWidth : 0,
      right: cut ? root.clientWidth + 1000 : Infinity,
    };
  }

  function rects(node, from, to) {
    const range = node.ownerDocument.createRange();
    range.setStart(node, from); range.setEnd(node, to);
    return range.getClientRects();
  }

  // What stands between two texts that touch in the markup: nothing, a space, or a line end.
  function between(node, text) {
    if (last.node.ownerDocument !== node.ownerDocument) return "<br>";
    const n = last.node.data.length;
    const a = rects(last.node, Math.max(n - 1, 0), n), b = rects(node, 0, 1);
    if (!a.length || !b.length) return "";
    const p = a[a.length - 1], q = b[0];
    const overlap = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (overlap < 0.3 * Math.min(p.height, q.height)) return boundary ? "<br>" : "";
    if (Math.max(q.left - p.right, p.left - q.right) > 0.15 * Math.min(p.height, q.height)) return " ";
    const sizes = p.height / q.height;
    return /\d$/.test(last.node.data) && /^\d/.test(text) && (sizes > 1.2 || sizes < 0.84) ? " " : "";
  }

  function writeText(node, state) {
    const text = node.data;
    if (!/[^\s]/.test(text)) { if (text) { out.push(text.includes("\n") && state.breaks ? "<br>" : " "); apart = true; } return null; }
    let reason = state.reason || state.own;
    if (!reason && state.view) reason = textReason(node, state.view);
    if (!apart && state.view && last && !/^\s/.test(text)) out.push(between(node, text));
    last = { node }; apart = /\s$/.test(text); boundary = false;
    const escaped = escapeText(text);
    const written = state.breaks ? escaped.replace(/\r?\n/g, "<br>") : escaped;
    if (!reason) visibleChars += text.trim().length;
    if (reason) out.push(`<lookstruct-text ${HIDDEN}="${reason}">`, written, "</lookstruct-text>");
    else out.push(written);
    return reason;
  }

  // A leaf in a row of leaves that stand beside each other reads as part of their line.
  function isRowItem(el, parentDisplay) {
    if (!/flex|grid/.test(parentDisplay) || el.childElementCount > 3 || (el.textContent || "").length > 100) return false;
    for (const child of el.children) if (BLOCKS.has(child.localName) || child.localName === "br") return false;
    const other = el.previousElementSibling || el.nextElementSibling;
    if (!other) return false;
    const p = other.getBoundingClientRect(), q = el.getBoundingClientRect();
    return Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 0.5 * Math.min(p.height, q.height) && q.height > 0;
  }

  function flowOf(el, name, cs, state) {
    if (TABLE_PARTS.has(name) || name === "li" || name === "dt" || name === "dd" || name === "br") return null;
    const isBlock = !INLINE.test(cs.display);
    const row = isBlock && isRowItem(el, state.display);
    if (BLOCKS.has(name)) return !isBlock || row ? "inline" : null;
    return isBlock && !row ? "block" : null;
  }

  function childrenOf(el, name) {
    if (el.shadowRoot) return el.shadowRoot.childNodes;
    if (name === "slot" && el.assignedNodes) {
      const assigned = el.assignedNodes({ flatten: true });
      if (assigned.length) return assigned;
    }
    return el.childNodes;
  }

  function currentValue(el, name) {
    if (name === "option") return { selected: el.selected ? "" : null };
    if (name !== "input") return {};
    if (/^(checkbox|radio)$/.test(el.type)) return { checked: el.checked ? "" : null };
    if (/^(password|hidden|file)$/.test(el.type)) return { value: null };
    return { value: el.value || null };
  }

  // Writes an element; returns {seen, hidden}: whether it has visible content, and the reason of hidden text in it.
  function write(el, state, depth) {
    const name = el.localName;
    if (++nodes > limits.nodes || depth > limits.depth) { truncated = true; return { seen: false, hidden: null }; }
    if (name === "script" && !/json/i.test(el.type)) return { seen: false, hidden: null };
    if (DROPPED.has(name)) return { seen: false, hidden: null };
    if (el.namespaceURI === "http://www.w3.org/2000/svg" && !SVG_KEPT.has(name.toLowerCase())) return { seen: false, hidden: null };
    if (name === "iframe" || name === "frame") return writeFrame(el, state, depth);
    const extra = currentValue(el, name);
    if (!state.view || name === "head") return writePlain(el, name, extra, state, depth);
    const cs = state.view.win.getComputedStyle(el);
    if (cs.display === "none" || (cs.contentVisibility === "hidden")) {
      extra[HIDDEN] = cs.display === "none" ? "display" : "content-visibility";
      writePlain(el, name, extra, state, depth);
      return { seen: false, hidden: extra[HIDDEN] };
    }
    return writeRendered(el, name, cs, extra, state, depth);
  }

  function writePlain(el, name, extra, state, depth) {
    out.push(`<${name}${attributes(el, extra)}>`);
    if (VOID.has(name)) return { seen: name === "img", hidden: null };
    const inner = { ...state, view: null, reason: null, own: null };
    if (name === "script" || name === "title") out.push(name === "title" ? escapeText(el.textContent) : el.textContent);
    else if (name === "textarea") out.push("\n", escapeText(el.value));
    else for (const child of childrenOf(el, name)) {
      if (child.nodeType === 1) write(child, inner, depth + 1);
      else if (child.nodeType === 3) out.push(escapeText(child.data));
    }
    out.push(`</${name}>`);
    return { seen: false, hidden: null };
  }

  function innerState(el, name, cs, state) {
    const inner = { ...state, display: cs.display, background: background(cs, state.background) };
    inner.breaks = name !== "pre" && !state.inPre && /^(pre|break-spaces)/.test(cs.whiteSpace);
    inner.inPre = state.inPre || name === "pre" || name === "textarea";
    if (state.cut && /^(absolute|fixed)$/.test(cs.position) && state.cut === "static") { inner.reason = state.outside; inner.cut = null; }
    inner.reason = inner.reason || boxReason(el, cs);
    if (!inner.reason && cutsOff(el, cs)) {
      inner.outside = inner.reason; inner.reason = "size"; inner.cut = cs.position === "static" ? "static" : "positioned";
    }
    inner.own = inner.reason ? null : ownReason(cs, inner);
    return inner;
  }

  function isApart(flow, name) { return flow === "block" || (flow === null && BLOCKS.has(name)) || name === "br"; }

  function writeRendered(el, name, cs, extra, state, depth) {
    const inner = innerState(el, name, cs, state);
    const flow = flowOf(el, name, cs, state);
    if (flow) extra[FLOW] = flow;
    if (isApart(flow, name)) apart = true;
    else if (!/^(inline|contents)$/.test(cs.display)) boundary = true;
    const start = out.length;
    out.push("");
    let seen = false, hidden = null;
    const wrapped = [];
    const folded = name === "details" && !el.open ? el.querySelector(":scope > summary") || el : null;
    if (VOID.has(name) || name === "textarea" || name === "select") {
      const reason = inner.reason || inner.own;
      if (/^(img|input|textarea|select)$/.test(name)) { if (reason) hidden = reason; else seen = true; }
      if (seen && (name === "img" ? el.alt.trim() : (el.value || "").trim() && el.type !== "hidden")) visibleChars += 1;
      if (name === "textarea") out.push("\n", escapeText(el.value));
      if (name === "select") for (const o of el.options) out.push(`<option${attributes(o, currentValue(o, "option"))}>${escapeText(o.text)}</option>`);
      if (!/^(br|wbr)$/.test(name)) apart = false, last = null;
    } else for (const child of childrenOf(el, name)) {
      const state = folded && child !== folded ? { ...inner, reason: "details" } : inner;
      if (child.nodeType === 1) {
        const result = write(child, state, depth + 1);
        seen = seen || result.seen; hidden = hidden || result.hidden;
      } else if (child.nodeType === 3) {
        const at = out.length, reason = writeText(child, state);
        if (reason) { hidden = hidden || reason; wrapped.push(at); } else if (/\S/.test(child.data)) seen = true;
      }
    }
    if (hidden && !seen) {
      extra[HIDDEN] = hidden;
      for (const at of wrapped) unwrap(at);
    }
    out[start] = `<${name}${attributes(el, extra)}>`;
    if (name === "pre") out[start] += "\n";
    if (!VOID.has(name)) out.push(`</${name}>`);
    if (isApart(flow, name)) apart = true;
    else if (!/^(inline|contents)$/.test(cs.display)) boundary = true;
    return { seen, hidden };
  }

  function unwrap(at) {
    let i = at;
    while (!out[i].startsWith("<lookstruct-text ")) i++;
    out[i] = "";
    while (out[i] !== "</lookstruct-text>") i++;
    out[i] = "";
  }

  function writeFrame(el, state, depth) {
    let doc = null;
    try { doc = el.contentDocument; } catch { doc = null; }
    const cs = state.view && state.view.win.getComputedStyle(el);
    const extra = { [FLOW]: "block" };
    if (cs) {
      const inner = innerState(el, "iframe", cs, state);
      const r = el.getBoundingClientRect();
      const reason = cs.display === "none" ? "display" : inner.reason || (cs.visibility !== "visible" ? "visibility" : null) ||
          (r.width < 10 || r.height < 10 ? "size" : null);
      if (reason) extra[HIDDEN] = reason;
    }
    apart = true;
    const index = limits.frames.indexOf(el);
    out.push(`<lookstruct-frame${attributes(el, extra)}>`);
    if (doc && doc.body) {
      const view = extra[HIDDEN] ? null : viewOf(doc);
      for (const child of doc.body.childNodes) {
        const inner = { view, reason: null, own: null, background: "rgb(255, 255, 255)", display: "block", breaks: false, inPre: false, cut: null };
        if (child.nodeType === 1) write(child, inner, depth + 1);
        else if (child.nodeType === 3) writeText(child, inner);
      }
    } else if (index >= 0) out.push(`<!--lookstruct-frame-${index}-->`);
    out.push("</lookstruct-frame>");
    apart = true; last = null;
    return { seen: !extra[HIDDEN], hidden: extra[HIDDEN] || null };
  }

  const root = document.documentElement;
  if (!root) return { html: "", visibleChars: 0, truncated: false, characterSet: document.characterSet };
  const state = { view: viewOf(document), reason: null, own: null, background: "rgb(255, 255, 255)", display: "block",
                  breaks: false, inPre: false, cut: null, outside: null };
  write(root, state, 0);
  return { html: "<!DOCTYPE html>\n" + out.join(""), visibleChars, truncated, characterSet: document.characterSet };
}
""".replace("@HIDDEN@", MARK_HIDDEN)
    .replace("@FLOW@", MARK_FLOW)
    .replace("@BLOCKS@", " ".join(sorted(BLOCKS)))
)
"""Takes `{nodes, depth, frames}`: how much to read at most, and the handles of frames that are read apart."""

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
