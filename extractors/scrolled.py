"""The script that keeps what scrolls away.

Lists that show only what is in view take items out of the page, or write new text into old ones. At each stop the
keeper notes the items of every list (three or more children of one kind) with their places, and a copy of those it sees
for the first time. In the end it puts back the copies of items that are no longer there, in the order of their places.
Places count from the top of what scrolls, so that they stay the same while it does.
"""

from __future__ import annotations

KEEPER = r"""
() => {
  const LEAST = 3, MOST_CHILDREN = 3000, MOST_SCROLLERS = 50;
  const lists = new Map();  // list -> {byNode: Map(node -> record), records: [record]}

  const scrolls = (el) => /auto|scroll|overlay/.test(getComputedStyle(el).overflowY) && el.clientHeight >= 100;
  const left = (el) => el.scrollHeight - el.clientHeight - el.scrollTop;
  const page = () => document.scrollingElement || document.documentElement;

  function scrollerOf(el) {
    for (; el && el !== document.body && el !== document.documentElement; el = el.parentElement) {
      if (el.scrollHeight > el.clientHeight + 2 && scrolls(el)) return el;
    }
    return null;
  }

  function placeIn(node, scroller) {
    const box = node.getBoundingClientRect();
    const top = scroller ? scroller.scrollTop - scroller.getBoundingClientRect().top : window.scrollY;
    return { top: box.top + top, left: box.left, height: box.height, width: box.width };
  }

  const near = (p, q) => Math.abs(p.top - q.top) < Math.max(Math.min(p.height, q.height) / 2, 1) &&
                         Math.abs(p.left - q.left) < Math.max(Math.min(p.width, q.width) / 2, 1);

  // The children of one kind that say something, if there are enough of them.
  function itemsOf(list) {
    const kinds = new Map();
    for (const child of list.children) {
      if (child.textContent.trim()) kinds.set(child.localName, [...(kinds.get(child.localName) || []), child]);
    }
    const items = [...kinds.values()].sort((a, b) => b.length - a.length)[0] || [];
    return items.length >= LEAST ? items : [];
  }

  function note(list) {
    const kept = lists.get(list) || { byNode: new Map(), byText: new Map(), records: [] };
    const scroller = scrollerOf(list);
    for (const node of itemsOf(list)) {
      const text = node.textContent, place = placeIn(node, scroller);
      if (!place.height) continue;
      const known = kept.byNode.get(node), same = kept.byText.get(text) || [];
      const record = known && known.text === text ? known : same.find((other) => near(other.place, place));
      if (record) Object.assign(record, { node, place });
      else {
        const fresh = { node, text, place, copy: node.cloneNode(true) };
        kept.records.push(fresh);
        kept.byText.set(text, [...same, fresh]);
      }
      kept.byNode.set(node, record || kept.records[kept.records.length - 1]);
    }
    if (kept.records.length) lists.set(list, kept);
  }

  function collect() {
    for (const el of document.querySelectorAll("body, body *")) {
      if (el.childElementCount >= LEAST && el.childElementCount <= MOST_CHILDREN) note(el);
    }
  }

  // Scroll on by most of a screen: the page first, then whatever scrolls inside it. False where all is at its end.
  function advance() {
    const inner = [...document.querySelectorAll("body *")].filter((el) => left(el) > 2 && scrolls(el));
    inner.sort((a, b) => b.clientHeight * b.clientWidth - a.clientHeight * a.clientWidth);
    for (const el of [page(), ...inner.slice(0, MOST_SCROLLERS)]) {
      const before = el.scrollTop, step = (el === page() ? innerHeight : el.clientHeight) * 0.8;
      el.scrollTo({ top: before + step, behavior: "instant" });
      if (el.scrollTop > before + 1) return true;
    }
    return false;
  }

  // The records of a list that are gone: no item stands in their place, and none with their text close by.
  function goneOf(list, kept) {
    const scroller = scrollerOf(list);
    const present = itemsOf(list).map((node) => ({ text: node.textContent, place: placeIn(node, scroller) }));
    const isSame = (item, { text, place }) => near(item.place, place) ||
      (item.text === text && Math.abs(item.place.top - place.top) < 1.5 * place.height);
    return kept.records.filter((record) => !present.some((item) => isSame(item, record)));
  }

  function refill(list, kept, gone) {
    const scroller = scrollerOf(list), byPlace = (p, q) => p.top - q.top || p.left - q.left;
    const present = itemsOf(list).map((node) => ({ node, place: placeIn(node, scroller) }));
    const all = [...present, ...gone.map(({ copy, place }) => ({ node: copy, place }))];
    all.sort((a, b) => (near(a.place, b.place) ? 0 : byPlace(a.place, b.place)));
    const end = present.length ? present[present.length - 1].node.nextSibling : null;
    for (const { node } of all) list.insertBefore(node, end);
  }

  // Put back what is gone; the outermost list that lost items counts, not those inside its items.
  function restore() {
    const done = [];
    let n = 0;
    const inOrder = [...lists.keys()].filter((list) => list.isConnected);
    inOrder.sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
    for (const list of inOrder) {
      if (done.some((outer) => outer.contains(list))) continue;
      const kept = lists.get(list), gone = goneOf(list, kept);
      if (gone.length < 2) continue;
      refill(list, kept, gone);
      done.push(list);
      n += gone.length;
    }
    return n;
  }

  return { collect, advance, restore };
}
"""
"""Evaluates to an object: `collect()` notes what is in view, `advance()` scrolls on and says whether it could,
`restore()` puts back what is gone and counts it."""
