// @ts-check
// Compares two requests on one scale: the differences in sentences, then the spans.

import { anatomyBar, nameOf } from './anatomy.js';
import * as api from './api.js';
import { aligned, attributeDifferences, onlyIn, partDifferences } from './diff.js';
import { el, percentOf } from './dom.js';
import { foreign, textOf, whole } from './foreign.js';
import { clock, count, exactMs, finite, many, ms, signedMs } from './format.js';
import { loading, failureNotice } from './notice.js';
import { compareHref, traceHref } from './router.js';
import { sentences } from './difference.js';
import { SpanTree } from './tree.js';

const SMALL_MS = 0.1;
const SMALL_SHARE = 0.1;

export function showCompare(host, desk, place) {
  return new CompareView(host, desk, place);
}

class CompareView {
  title = 'Compare';
  #host; #desk; #place; #abortController = new AbortController();

  constructor(host, desk, place) {
    this.#host = host;
    this.#desk = desk;
    this.#place = place;
    desk.chosen.first = undefined;
    host.append(el('h1', { class: 'unseen', text: 'Two requests compared' }), loading(8, 'both requests'));
    this.#query();
  }

  get keys() {
    return [
      { keys: ['j', 'ArrowDown'], does: 'next pair of spans', run: () => this.#step(1) },
      { keys: ['k', 'ArrowUp'], does: 'previous pair of spans', run: () => this.#step(-1) },
      { keys: ['Enter'], does: 'attributes that differ', run: () => false }, // handled by the summary element
      { keys: ['s'], does: 'swap both', run: () => this.#desk.go(compareHref(this.#place.b, this.#place.a)) },
      { keys: ['Escape'], does: 'back to the requests', run: () => this.#desk.go(this.#desk.list) },
    ];
  }

  close() {
    this.#abortController.abort();
  }

  async #query() {
    try {
      const [a, b] = await Promise.all([this.#place.a, this.#place.b].map((id) => api.trace(id, this.#abortController.signal)));
      this.#draw(a, b);
    } catch (failure) {
      if (failure.name !== 'AbortError') this.#host.replaceChildren(failureNotice(failure, () => this.#query()));
    }
  }

  #draw(a, b) {
    const trees = { a: new SpanTree(a.spans), b: new SpanTree(b.spans) };
    const { rows, isCut } = aligned(trees.a, trees.b);
    const only = { a: onlyIn(rows, 'a'), b: onlyIn(rows, 'b') };
    this.#host.replaceChildren(
      el('div', { class: 'crumbs' }, el('a', { href: this.#desk.list, text: '← Requests' })),
      el('h1', { text: 'Two requests compared' }),
      el('div', { class: 'sides' }, side('A', a.summary), side('B', b.summary)),
      el('section', { class: 'panel differences', 'aria-label': 'What differs' }, el('h2', { text: 'What differs' }), el('ul', {}, sentences(a, b, only).map((parts) => el('li', {}, parts)))),
      anatomies(a, b), spanRows(rows, isCut, Math.max(trees.a.endMs, trees.b.endMs, 1e-6)));
  }

  #step(by) {
    const rows = [...this.#host.querySelectorAll('.pair > summary')];
    const at = rows.indexOf(document.activeElement);
    rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus();
  }
}

function side(letter, summary) {
  return el('a', { class: `side side-${letter.toLowerCase()}`, href: traceHref(summary.traceId) },
    el('b', { class: 'letter', text: letter }),
    el('span', { class: 'side-name' }, foreign(summary.name ?? 'unnamed'), summary.model ? foreign(summary.model, 'quiet') : null, summary.requestId ? foreign(summary.requestId, 'quiet') : null),
    el('span', { class: 'side-facts' }, `${clock(summary.startMs)} · took ${ms(summary.durationMs)} · first token ${ms(summary.ttftMs)} · ${summary.status}`),
    summary.why ? el('span', { class: 'side-why' }, foreign(summary.why)) : null);
}

function anatomies(a, b) {
  if (!a.anatomy && !b.anatomy) return null;
  const scale = Math.max(finite(a.anatomy?.ttftMs), finite(b.anatomy?.ttftMs), 1e-6);
  const line = (letter, data) => el('div', { class: 'anatomy-line' }, el('b', { class: `letter letter-${letter.toLowerCase()}`, text: letter }),
    data.anatomy ? anatomyBar(data.anatomy, scale) : el('span', { class: 'quiet', text: 'no first token' }), el('b', { text: data.anatomy ? exactMs(data.anatomy.ttftMs) : '–' }));
  return el('section', { class: 'panel', 'aria-label': 'Time to first token of both' }, el('h2', { text: 'Time to first token' }),
    line('A', a), line('B', b), a.anatomy && b.anatomy ? partTable(partDifferences(a.anatomy, b.anatomy)) : null);
}

function partTable(parts) {
  const most = Math.max(1e-6, ...parts.map((part) => Math.abs(part.by)));
  const head = el('tr', {}, ['Part', 'A', 'B', 'B − A', ''].map((name) => el('th', { scope: 'col', text: name })));
  const rows = parts.map((part) => el('tr', {},
    el('th', { scope: 'row' }, el('i', { class: `swatch part-${part.key}` }), nameOf(part)),
    [exactMs(part.a), exactMs(part.b), signedMs(part.by)].map((text) => el('td', { class: 'n', text })),
    el('td', { class: 'delta', 'aria-hidden': 'true' }, el('i', { class: part.by > 0 ? 'slower' : 'faster', style: { width: `calc(${percentOf(Math.abs(part.by), most)} / 2)` } }))));
  return el('table', { class: 'parts' }, el('thead', {}, head), el('tbody', {}, rows));
}

function spanRows(rows, isCut, endMs) {
  return el('section', { class: 'panel pairs', 'aria-label': 'Spans of both' }, el('h2', { text: 'Spans, aligned' }),
    el('p', { class: 'quiet', text: `Both begin at the left edge. Open a row for the attributes that differ. Spans with about the same duration and the same attributes are collapsed.` }),
    rows.filter(differs).map((row) => pair(row, endMs)), pairsWithoutDifference(rows.filter((row) => !differs(row)), endMs),
    isCut ? el('p', { class: 'warning', text: `The requests have more spans; only the first ${count(rows.length)} pairs are compared.` }) : null);
}

// Collapses pairs of spans with about the same duration and the same attributes.
function pairsWithoutDifference(rows, endMs) {
  if (rows.length === 0) return null;
  const node = el('details', { class: 'alike' }, el('summary', { text: `${many(rows.length, 'span')} without a difference` }));
  node.addEventListener('toggle', () => node.open && node.childElementCount === 1 && node.append(...rows.map((row) => pair(row, endMs))));
  return node;
}

function differs(row) {
  if (!row.a || !row.b) return true;
  const by = Math.abs(finite(row.b.tookMs) - finite(row.a.tookMs));
  return by >= Math.max(SMALL_MS, SMALL_SHARE * Math.max(finite(row.a.tookMs), finite(row.b.tookMs))) || attributeDifferences(row.a.span, row.b.span).length > 0;
}

function pair(row, endMs) {
  const branch = row.a ?? row.b;
  const by = row.a && row.b ? finite(row.b.tookMs) - finite(row.a.tookMs) : undefined;
  const only = by !== undefined ? null : el('span', { class: 'mark', text: row.a ? 'only A' : 'only B' });
  const node = el('details', { class: 'pair' }, el('summary', {},
    el('span', { class: 'pair-name', style: { 'padding-inline-start': `${Math.min(row.level - 1, 14) * 14}px` } }, foreign(branch.name), only),
    el('span', { class: 'pair-bars', 'aria-hidden': 'true' }, bar('a', row.a, endMs), bar('b', row.b, endMs)),
    el('span', { class: 'pair-ms', text: row.a ? tookText(row.a) : '–' }), el('span', { class: 'pair-ms', text: row.b ? tookText(row.b) : '–' }),
    el('span', { class: `pair-ms ${by > 0 ? 'slower' : 'faster'}`, text: by === undefined ? '' : signedMs(by) })));
  node.addEventListener('toggle', () => node.open && node.childElementCount === 1 && node.append(attributesOf(row)));
  return node;
}

function tookText({ span, tookMs }) {
  return span.fold ? `Σ ${ms(tookMs)}` : ms(tookMs);
}

function bar(letter, branch, endMs) {
  return el('i', { class: `pair-bar bar-${letter}`, hidden: !branch, style: branch ? { left: percentOf(branch.from, endMs), width: percentOf(branch.to - branch.from, endMs) } : {} });
}

function attributesOf(row) {
  const found = attributeDifferences(row.a?.span ?? {}, row.b?.span ?? {});
  if (found.length === 0) return el('p', { class: 'quiet', text: 'All attributes are the same.' });
  const cell = (value) => el('td', {}, value === undefined ? '–' : whole(textOf(value)));
  return el('table', { class: 'parts' }, el('thead', {}, el('tr', {}, ['Attribute', 'A', 'B'].map((name) => el('th', { scope: 'col', text: name })))),
    el('tbody', {}, found.map(({ key, a, b }) => el('tr', {}, el('th', { scope: 'row' }, foreign(key)), cell(a), cell(b)))));
}
