"""JavaScript: elements and their attributes -> HTML text, form controls with their present values."""

from __future__ import annotations

MARKUP = r"""
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

  // The largest picture that an image's sets offer; of the sets nothing else is kept.
  const CANDIDATE = /(\S*[^\s,])(?:\s+(\d+(?:\.\d+)?)[wx])?[^,]*(?:,|$)/g;
  function largestOf(image) {
    const around = image.parentElement, inPicture = around && around.localName === "picture";
    let largest = null, most = -1;
    for (const el of [image, ...(inPicture ? around.querySelectorAll("source") : [])]) {
      for (const [, url, size] of (el.getAttribute("srcset") || "").matchAll(CANDIDATE)) {
        if (!/^data:/i.test(url) && Number(size || 1) > most) { largest = url; most = Number(size || 1); }
      }
    }
    return largest && isElsewhere(image) && URL.canParse(largest, image.baseURI)
      ? new URL(largest, image.baseURI).href : largest;
  }

  // The values that a person sees in a control, where they differ from the markup; passwords never leave the page.
  function currentValue(el, name) {
    if (name === "img") return { srcset: largestOf(el) };
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
