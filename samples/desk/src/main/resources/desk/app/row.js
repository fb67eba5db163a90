// @ts-check
// One request in the list.

import { el, percentOf, setText } from './dom.js';
import { rewrite } from './foreign.js';
import { clock, count, day, ms, percent } from './format.js';
import { compareHref, traceHref } from './router.js';

export const STATUS = {
  ok: ['ok', 'The request succeeded.'],
  error: ['error', 'The request failed.'],
  open: ['open', 'The root span has not arrived: the request may still be running.'],
  broken: ['broken', 'Parent spans are missing: a process died or lost them.'],
};

/** Per column: name, class, tooltip and, if it can be sorted, the sort parameter and the summary's
 * member.
 */
export const HEADINGS = [
  ['', 'c-status', ''],
  ['Time', 'c-time', 'When the request began', 'time', 'startMs'],
  ['Request', 'c-what', '', 'name', 'name'],
  ['TTFT', 'c-ttft', 'Time to first token', 'ttft', 'ttftMs'],
  ['Took', 'c-took', 'From the first span to the end of the last', 'took', 'durationMs'],
  ['', 'c-bar', ''],
  ['KV hit', 'c-kv', 'Share of the prompt that was found in a KV cache', 'kv', 'kvHitRatio'],
  ['Tokens', 'c-tokens', 'Tokens generated', 'tokens', 'tokens'],
  ['Spans', 'c-spans', 'Spans received', 'spans', 'spans'],
];

/** Compares summaries as the server does for `sort` ("ttft" or "ttft:asc"; newest first if unset).
 * Missing values come last.
 */
export function bySort(sort) {
  const newestFirst = (a, b) => b.startMs - a.startMs || b.seq - a.seq;
  const [key, direction] = (sort ?? '').split(':');
  const member = HEADINGS.find(([, , , name]) => name === key)?.[4];
  if (!member) return newestFirst;
  const sign = direction === 'asc' ? 1 : -1;
  const compared = (a, b) => (typeof a === 'string' ? a.localeCompare(b) : a - b);
  return (a, b) => {
    if (a[member] === undefined || b[member] === undefined) return Number(a[member] === undefined) - Number(b[member] === undefined) || newestFirst(a, b);
    return sign * compared(a[member], b[member]) || newestFirst(a, b);
  };
}

export class RequestRow {
  #cell = {};
  #written;

  /** `opened` is called with the trace id when the user opens the request. */
  constructor(isNews, opened) {
    const cell = (name, role = 'cell') => (this.#cell[name] = el('span', { class: `c-${name}`, role }));
    this.#cell.name = el('bdi', { class: 'foreign r-name' });
    this.#cell.model = el('bdi', { class: 'foreign r-model' });
    this.#cell.id = el('bdi', { class: 'foreign r-id' });
    this.#cell.marks = el('span', { class: 'r-marks' });
    this.#cell.why = el('bdi', { class: 'foreign r-why' });
    this.#cell.first = el('i', { class: 'bar-first' });
    this.#cell.rest = el('i', { class: 'bar-rest' });
    this.#cell.link = el('a', { class: 'open', on: { click: () => opened(this.#written.traceId) } },
      el('span', { class: 'r-line' }, this.#cell.name, this.#cell.model, this.#cell.id, this.#cell.marks), this.#cell.why);
    this.#cell.dot = el('i', { class: 'dot' });
    this.node = el('div', { class: isNews ? 'request news' : 'request', role: 'row' },
      el('span', { class: 'c-status', role: 'cell' }, this.#cell.dot), cell('time'),
      el('span', { class: 'c-what', role: 'cell' }, this.#cell.link), cell('ttft'), cell('took'),
      el('span', { class: 'c-bar', role: 'cell', 'aria-hidden': 'true' }, this.#cell.first, this.#cell.rest),
      cell('kv'), cell('tokens'), cell('spans'));
  }

  /** `chosen` is the trace that the user has selected for a comparison; if set, the row links to
   * the comparison with it.
   */
  write(one, scaleMs, chosen) {
    this.node.classList.toggle('chosen', chosen === one.traceId);
    this.#cell.link.href = chosen && chosen !== one.traceId ? compareHref(chosen, one.traceId) : traceHref(one.traceId);
    this.#bar(one, scaleMs);
    if (this.#written?.seq === one.seq && this.#written.traceId === one.traceId) return;
    this.#written = one;
    this.#text(one);
    this.#marks(one);
  }

  #text(one) {
    const [status, meaning] = STATUS[one.status] ?? STATUS.open;
    this.node.dataset.trace = one.traceId;
    this.node.dataset.status = status;
    this.#cell.dot.title = meaning;
    this.#cell.dot.setAttribute('role', 'img');
    this.#cell.dot.setAttribute('aria-label', status);
    setText(this.#cell.time, clock(one.startMs));
    this.#cell.time.title = day(one.startMs);
    rewrite(this.#cell.name, one.name ?? 'unnamed');
    rewrite(this.#cell.model, one.model ?? one.service ?? '');
    rewrite(this.#cell.id, one.requestId ?? '');
    rewrite(this.#cell.why, one.why ?? '');
    setText(this.#cell.ttft, ms(one.ttftMs));
    setText(this.#cell.took, ms(one.durationMs));
    setText(this.#cell.kv, percent(one.kvHitRatio));
    setText(this.#cell.tokens, count(one.tokens));
    setText(this.#cell.spans, count(one.spans));
  }

  #marks(one) {
    const marks = [];
    const mark = (className, text, title) => marks.push(el('bdi', { class: `mark ${className}`, text, title }));
    if (one.status === 'broken') mark('mark-broken', 'broken', STATUS.broken[1]);
    if (one.status === 'open') mark('mark-open', 'open', STATUS.open[1]);
    if (one.route === 'pd') mark('', 'P/D', 'Prefill ran on another pod');
    if (one.httpStatus >= 400) mark('mark-error', String(one.httpStatus), 'HTTP status');
    if (one.errorType && one.errorType !== String(one.httpStatus)) marks.push(errorMark(one.errorType));
    if (one.dropped > 0) mark('mark-warn', `${count(one.dropped)} lost`, 'Lost events or spans: the trace is incomplete');
    this.#cell.marks.replaceChildren(...marks);
  }

  #bar(one, scaleMs) {
    const first = Math.min(one.ttftMs ?? 0, one.durationMs ?? 0);
    this.#cell.first.style.width = percentOf(first, scaleMs);
    this.#cell.rest.style.width = percentOf((one.durationMs ?? 0) - first, scaleMs);
  }
}

function errorMark(type) {
  const node = el('bdi', { class: 'mark mark-error foreign' });
  rewrite(node, type);
  return node;
}
