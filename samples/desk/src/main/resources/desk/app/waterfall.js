// @ts-check
// The waterfall: a row with a bar per span. Only visible rows have DOM elements, so that large
// traces scroll fast.

import { Axis } from './axis.js';
import { el } from './dom.js';
import { count } from './format.js';
import { Minimap } from './minimap.js';
import { SpanRow } from './spanrow.js';

const SPARE_ROWS = 6;
const NARROW = matchMedia('(max-width: 760px)');

export class Waterfall {
  #tree; #look; #onSelect; #rows = []; #indexOf = new Map(); #pool = []; #selected; #range; #rowHeight; #top = -Infinity;
  #scroll; #size; #axis; #map; #watch;

  /** `look` has the colours of the services (`series`), the parts of the time to first token (`anatomy`)
   * and `firstTokenMs`. `selected` is called when a span is selected.
   */
  constructor(tree, look, selected) {
    this.#tree = tree;
    this.#look = look;
    this.#onSelect = selected;
    this.#range = this.#whole();
    this.#size = el('div', { class: 'wf-size', role: 'presentation' });
    this.#scroll = el('div', {
      class: 'wf-scroll', role: 'tree', tabindex: '0', 'aria-label': 'Spans',
      on: { scroll: () => this.#drawRows(), click: (event) => this.#clicked(event), focus: () => this.#focused() },
    }, this.#size);
    this.#axis = new Axis(look);
    this.#map = new Minimap(look.series, (range) => this.#zoom(range));
    this.node = el('div', { class: 'waterfall' }, this.#head(),
      el('div', { class: 'wf-head' }, el('div', { class: 'wf-names', text: 'Span' }), this.#axis.node),
      el('div', { class: 'wf-body' }, this.#axis.lines, this.#scroll, this.#axis.marks));
    this.#watch = new ResizeObserver(() => this.draw());
    this.#watch.observe(this.#scroll);
  }

  /** Draws the waterfall; `node` must be in the document. */
  start(kept, branch) {
    if (kept) this.#restore(kept);
    this.#rebuild();
    if (kept) this.#scroll.scrollTop = kept.scrollTop;
    if (branch && kept) this.#setSelected(branch, false);
    else if (branch) this.select(branch, true);
    this.draw();
  }

  close() {
    this.#watch.disconnect();
  }

  /** The state to restore after the trace has grown: open branches, scroll position, zoom. */
  state() {
    const isOpen = new Map(this.#tree.all.map((branch) => [branch.span.id, branch.isOpen]));
    const isWhole = this.#range.from === this.#whole().from && this.#range.to === this.#whole().to;
    return { isOpen, scrollTop: this.#scroll.scrollTop, range: isWhole ? undefined : this.#range };
  }

  #restore(kept) {
    for (const branch of this.#tree.all) branch.isOpen = kept.isOpen.get(branch.span.id) ?? branch.isOpen;
    this.#range = kept.range ?? this.#range;
  }

  #whole() {
    return { from: this.#tree.startMs, to: Math.max(this.#tree.endMs, this.#tree.startMs + 1e-6) };
  }

  #head() {
    const button = (text, title, run) => el('button', { type: 'button', class: 'link-button', text, title, on: { click: run } });
    return el('div', { class: 'wf-map' },
      el('div', { class: 'wf-names' }, el('span', { text: `${count(this.#tree.all.length)} spans` }),
        button('Open all', 'Open all spans', () => this.#openAll(true)), button('Close all', 'Close all spans', () => this.#openAll(false))),
      this.#map.node);
  }

  #rebuild() {
    this.#rows = this.#tree.visible();
    this.#indexOf = new Map(this.#rows.map((branch, i) => [branch, i]));
    this.draw();
  }

  draw() {
    this.#rowHeight = NARROW.matches ? 44 : 26;
    this.#size.style.height = `${this.#rows.length * this.#rowHeight}px`;
    this.node.style.setProperty('--gutter', `${this.#scroll.offsetWidth - this.#scroll.clientWidth}px`);
    this.#axis.draw(this.#range);
    this.#map.draw(this.#tree.all, this.#whole(), this.#range);
    for (const row of this.#pool) row.clear();
    this.#drawRows();
  }

  // The pool has the DOM elements of a few more rows than are visible (spare rows). Row i uses element
  // i modulo the pool's size, so that scrolling by one row rewrites only one element. Fast scrolling
  // writes no spare rows.
  #drawRows() {
    const height = this.#scroll.clientHeight;
    if (height === 0) return;
    const slots = Math.ceil(height / this.#rowHeight) + 2 * SPARE_ROWS;
    while (this.#pool.length < slots) this.#addSlot();
    const top = Math.floor(this.#scroll.scrollTop / this.#rowHeight);
    const spare = Math.abs(top - this.#top) > slots / 2 ? 0 : SPARE_ROWS;
    this.#top = top;
    const end = top + Math.ceil(height / this.#rowHeight) + 1 + spare;
    for (let i = Math.max(0, top - spare); i < Math.min(end, top - spare + this.#pool.length); i++) {
      const row = this.#pool[i % this.#pool.length];
      if (row.index === i) continue;
      row.write(i, this.#rows[i], this.#range, this.#rowHeight);
      row.mark(this.#rows[i] !== undefined && this.#rows[i] === this.#selected);
    }
  }

  #addSlot() {
    const row = new SpanRow(this.#look.series);
    this.#pool.push(row);
    this.#size.append(row.node);
    for (const other of this.#pool) other.clear(); // the pool's size has changed
  }

  #clicked(event) {
    const index = Number(event.target.closest('.wf-row')?.dataset.index);
    const branch = this.#rows[index];
    if (!branch) return;
    if (event.target.closest('.wf-caret')) this.#toggle(branch);
    this.select(branch, false, !event.target.closest('.wf-caret'));
  }

  #focused() {
    if (!this.#selected && this.#rows.length > 0) this.#setSelected(this.#rows[0], false);
  }

  focus() {
    this.#scroll.focus({ preventScroll: true });
    return true;
  }

  /** `isAsked`: the user selected the span, so its details open even if they cover the rows. */
  select(branch, centred = false, isAsked = false) {
    if (!this.#indexOf.has(branch)) {
      this.#tree.reveal(branch);
      this.#rebuild();
    }
    this.#scrollToRow(this.#indexOf.get(branch), centred);
    this.#setSelected(branch, isAsked);
    // Scrolls the page, too, because the row may still be outside of the window.
    this.#pool.find((row) => row.branch === branch)?.node.scrollIntoView({ block: 'nearest' });
  }

  #setSelected(branch, isAsked) {
    this.#selected = branch;
    this.#drawRows();
    for (const row of this.#pool) row.mark(row.branch !== undefined && row.branch === branch);
    this.#scroll.setAttribute('aria-activedescendant', `span-${branch.span.id}`);
    this.#onSelect(branch, isAsked);
  }

  #scrollToRow(index, centred) {
    const top = index * this.#rowHeight;
    const height = this.#scroll.clientHeight;
    const seen = top >= this.#scroll.scrollTop && top + this.#rowHeight <= this.#scroll.scrollTop + height;
    if (seen) return;
    const above = top < this.#scroll.scrollTop;
    this.#scroll.scrollTop = centred ? top - height / 2 : above ? top : top + this.#rowHeight - height;
  }

  step(by) {
    const at = this.#selected ? this.#indexOf.get(this.#selected) : by > 0 ? -1 : 1;
    const next = this.#rows[Math.max(0, Math.min(this.#rows.length - 1, at + by))];
    if (next) this.select(next);
  }

  inward() {
    const branch = this.#selected;
    if (!branch || branch.children.length === 0) return;
    if (!branch.isOpen) this.#toggle(branch);
    else this.select(branch.children[0]);
  }

  outward() {
    const branch = this.#selected;
    if (branch?.isOpen && branch.children.length > 0) this.#toggle(branch);
    else if (branch?.parent) this.select(branch.parent);
  }

  nextError() {
    const all = this.#tree.all;
    const from = this.#selected ? all.indexOf(this.#selected) + 1 : 0;
    const next = all.slice(from).concat(all.slice(0, from)).find((branch) => branch.span.error);
    if (!next) return false;
    this.select(next, true);
    return true;
  }

  #toggle(branch) {
    if (branch.children.length === 0) return;
    branch.isOpen = !branch.isOpen;
    this.#rebuild();
  }

  #openAll(isOpen) {
    for (const branch of this.#tree.all) branch.isOpen = isOpen || branch.children.length === 0;
    if (!isOpen && this.#selected) {
      let top = this.#selected;
      while (top.parent) top = top.parent;
      this.#rebuild();
      this.select(top);
      return;
    }
    this.#rebuild();
  }

  zoomToSelected() {
    if (this.#selected) this.#zoom({ from: this.#selected.from, to: Math.max(this.#selected.to, this.#selected.from + 1e-4) });
  }

  /** Shows the whole time range; returns false if it was already visible. */
  zoomOut() {
    const whole = this.#whole();
    if (this.#range.from === whole.from && this.#range.to === whole.to) return false;
    this.#zoom(whole);
    return true;
  }

  #zoom(range) {
    this.#range = range ?? this.#whole();
    this.draw();
  }
}
