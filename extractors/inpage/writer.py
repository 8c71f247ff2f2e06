"""JavaScript: one walk over the live page that writes all of it, frames and shadow trees in their places."""

from __future__ import annotations

WRITER = r"""
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
