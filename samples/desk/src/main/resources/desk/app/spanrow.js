// @ts-check
// One row of the waterfall. Scrolling reuses rows for other spans; a row updates only the parts
// that differ.

import { el, setText } from './dom.js';
import { rewrite } from './foreign.js';
import { count, finite, ms, percent } from './format.js';

const INDENT_PX = 14;
const DEEPEST_INDENT = 22;
const MOST_SEGMENTS = 24;
const CLOSE = 0.004; // gaps in the critical path below this share of the width are closed

export class SpanRow {
  index = -1;
  branch;
  #series; #indent; #caret; #dot; #name; #service; #marks; #took; #bar; #busy; #path; #label;

  constructor(series) {
    this.#series = series;
    this.#indent = el('span', { class: 'wf-indent' });
    this.#caret = el('span', { class: 'wf-caret', 'aria-hidden': 'true' });
    this.#dot = el('i', { class: 'swatch' });
    this.#name = el('bdi', { class: 'foreign wf-name' });
    this.#service = el('bdi', { class: 'foreign wf-service' });
    this.#marks = el('span', { class: 'wf-marks' });
    this.#took = el('span', { class: 'wf-took' });
    this.#busy = el('i', { class: 'wf-busy' });
    this.#path = el('span', { class: 'wf-path' });
    this.#bar = el('span', { class: 'wf-bar' }, this.#busy);
    this.#label = el('span', { class: 'wf-label' });
    this.node = el('div', { class: 'wf-row', role: 'treeitem' },
      el('span', { class: 'wf-names' }, this.#indent, this.#caret, this.#dot, this.#name, this.#service, this.#marks, this.#took),
      el('span', { class: 'wf-time' }, this.#bar, this.#path, this.#label));
  }

  /** Hides the row until the next `write`. */
  clear() {
    this.index = -1;
    this.branch = undefined;
    this.node.hidden = true;
  }

  write(index, branch, range, rowHeight) {
    this.index = index;
    this.branch = branch;
    this.node.hidden = branch === undefined;
    if (!branch) return;
    this.node.style.transform = `translateY(${index * rowHeight}px)`;
    this.node.id = `span-${branch.span.id}`;
    this.node.dataset.index = index;
    this.node.classList.toggle('odd', index % 2 === 1);
    this.#writeName(branch);
    this.#writeMarks(branch);
    this.#writeBar(branch, range);
  }

  mark(isSelected) {
    this.node.classList.toggle('selected', isSelected);
    this.node.setAttribute('aria-selected', String(isSelected));
  }

  #writeName(branch) {
    const { span } = branch;
    this.node.setAttribute('aria-level', branch.level);
    this.#indent.style.width = `${Math.min(branch.level - 1, DEEPEST_INDENT) * INDENT_PX}px`;
    if (branch.children.length > 0) this.node.setAttribute('aria-expanded', String(branch.isOpen));
    else this.node.removeAttribute('aria-expanded');
    setText(this.#caret, branch.children.length === 0 ? '' : branch.isOpen ? '▾' : '▸');
    this.#dot.className = `swatch series-${this.#series.of(span.service)}`;
    rewrite(this.#name, branch.name);
    rewrite(this.#service, branch.parent && branch.parent.span.service === span.service ? '' : span.service ?? '');
    setText(this.#took, span.fold ? `Σ ${ms(branch.tookMs)}` : ms(branch.tookMs));
  }

  #writeMarks(branch) {
    const { span } = branch;
    const marks = [];
    if (span.error) marks.push(['mark-error', 'error', span.statusText ?? 'This span failed.']);
    if (!branch.isOpen) marks.push([branch.errorsBelow > 0 ? 'mark-error' : '', `+${count(branch.below)}`, branch.errorsBelow > 0 ? `Hidden spans below; ${count(branch.errorsBelow)} of them failed.` : 'Hidden spans below.']);
    if (span.fold) marks.push(['mark-fold', `×${count(span.fold.count)}`, `${count(span.fold.count)} calls took ${ms(span.fold.sumMs)} together. The bar reaches from the first call to the end of the last.`]);
    if (span.orphan) marks.push(['mark-broken', 'no parent', 'Its parent has not arrived.']);
    if (span.coverage < 1) marks.push(['mark-warn', `${percent(span.coverage)} seen`, `Share of the events during this span that were received; ${count(span.dropped)} were lost.`]);
    else if (span.dropped > 0) marks.push(['mark-warn', `${count(span.dropped)} lost`, 'Events lost while this span ran.']);
    if (span.links?.length > 0) marks.push(['', `↗ ${count(span.links.length)}`, 'Links to other traces; see the details.']);
    if (marks.length === 0 && !this.#marks.firstChild) return;
    this.#marks.replaceChildren(...marks.map(([className, text, title]) => {
      const node = el('span', { class: `mark ${className}`, text });
      rewriteTitle(node, title);
      return node;
    }));
  }

  #writeBar(branch, range) {
    const width = range.to - range.from;
    const left = (branch.from - range.from) / width;
    const right = (branch.to - range.from) / width;
    const isIn = right >= 0 && left <= 1;
    this.#bar.hidden = !isIn;
    this.#label.hidden = !isIn;
    this.#writePath(isIn ? branch.critical : [], range);
    if (!isIn) return;
    const from = Math.max(0, left);
    const to = Math.min(1, right);
    const { span } = branch;
    this.#bar.className = `wf-bar series-${this.#series.of(span.service)}${span.error ? ' failed' : ''}${span.fold ? ' folded' : ''}${span.dropped > 0 || span.coverage < 1 ? ' lossy' : ''}`;
    this.#bar.style.left = share(from);
    this.#bar.style.width = share(to - from);
    this.#busy.style.width = span.fold ? share(finite(span.fold.sumMs) / Math.max(1e-9, branch.to - branch.from)) : '0';
    this.#writeLabel(span, from, to);
  }

  #writeLabel(span, from, to) {
    setText(this.#label, span.fold ? `Σ ${ms(span.fold.sumMs)} · p50 ${ms(span.fold.p50Ms)} · p99 ${ms(span.fold.p99Ms)}` : ms(span.durationMs));
    const needed = span.fold ? 0.42 : 0.14;
    const side = 1 - to > needed ? 'after' : from > needed ? 'before' : 'inside';
    this.#label.className = `wf-label ${side}`;
    this.#label.style.left = side === 'before' ? 'auto' : share(side === 'after' ? to : from);
    this.#label.style.right = side === 'before' ? share(1 - from) : 'auto';
  }

  #writePath(critical, range) {
    const parts = joined(critical, range);
    while (this.#path.childElementCount > parts.length) this.#path.lastChild.remove();
    while (this.#path.childElementCount < parts.length) this.#path.append(el('i'));
    parts.forEach(([from, to], i) => {
      const part = /** @type {HTMLElement} */ (this.#path.children[i]);
      part.style.left = share(from);
      part.style.width = share(to - from);
    });
  }
}

function rewriteTitle(node, text) {
  const holder = el('bdi');
  rewrite(holder, text);
  node.title = holder.title || holder.textContent;
}

function share(value) {
  return `${Math.max(0, Math.min(1, Number.isFinite(value) ? value : 0)) * 100}%`;
}

// Returns the visible segments of the critical path as shares of the width, with small gaps closed.
function joined(critical, range) {
  const width = range.to - range.from;
  const parts = [];
  for (let i = critical.length - 1; i >= 0; i--) { // the segments are ordered from the last to the first
    const from = Math.max(0, (critical[i][0] - range.from) / width);
    const to = Math.min(1, (critical[i][1] - range.from) / width);
    if (to < 0 || from > 1) continue;
    const last = parts.at(-1);
    if (last && (from - last[1] < CLOSE || parts.length >= MOST_SEGMENTS)) last[1] = to;
    else parts.push([from, to]);
  }
  return parts;
}
