"""JavaScript: in which order things are read, what flows with what, and what stands between two texts."""

from __future__ import annotations

LAYOUT = r"""
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
