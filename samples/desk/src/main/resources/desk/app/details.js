// @ts-check
// All details of one span.

import { el, percentOf } from './dom.js';
import { foreign, plain, textOf, whole } from './foreign.js';
import { count, finite, ms, percent } from './format.js';
import { isTrace, traceHref } from './router.js';

const COVERS = matchMedia('(max-width: 1180px)');

export class SpanDetails {
  #series; #jump; #leave; #body;

  /** `jump` selects a span of this trace; `leave` returns the focus to the rows. */
  constructor(series, jump, leave) {
    this.#series = series;
    this.#jump = jump;
    this.#leave = leave;
    this.#body = el('div', { class: 'details-body' }, el('p', { class: 'quiet', text: 'Select a span to see its details.' }));
    this.node = el('aside', { class: 'details', tabindex: '-1', 'aria-label': 'Details of the span' }, this.#body);
  }

  show(branch) {
    const { span } = branch;
    this.node.classList.add('filled');
    this.node.scrollTop = 0;
    this.#body.replaceChildren(...[
      this.#head(branch), span.error ? el('p', { class: 'details-error' }, el('b', { text: 'Failed' }), span.statusText ? el('span', {}, ': ', whole(span.statusText)) : null) : null,
      facts(branch), span.fold ? foldBox(span.fold, branch) : null, lossBox(span), this.#links(span), events(span), attributes(span), copy(span),
    ].filter(Boolean));
  }

  /** Opens the details on narrow screens, where they cover the rows. */
  open() {
    this.node.classList.toggle('open', COVERS.matches);
  }

  focus() {
    this.open();
    this.node.focus();
    return true;
  }

  /** Closes the details if they cover the rows; returns false otherwise. */
  close() {
    const wasOpen = this.node.classList.contains('open') || this.node.contains(document.activeElement);
    this.node.classList.remove('open');
    return wasOpen;
  }

  #head({ span, name }) {
    const close = el('button', { type: 'button', class: 'icon-button details-close', 'aria-label': 'Close the details', text: '×', on: { click: () => { this.close(); this.#leave(); } } });
    return el('div', { class: 'details-head' }, el('h2', {}, whole(name)), close,
      el('p', {}, el('i', { class: `swatch series-${this.#series.of(span.service)}` }), foreign(span.service ?? 'unknown service'), span.kind ? el('span', { text: `· ${plain(span.kind).toLowerCase().slice(0, 20)}` }) : null));
  }

  #links(span) {
    if (!(span.links?.length > 0)) return null;
    return el('section', {}, el('h3', { text: `Links (${count(span.links.length)})` }), el('ul', { class: 'links' }, span.links.map((link) => this.#link(link))));
  }

  #link(link) {
    if (!isTrace(link.traceId)) return el('li', {}, foreign(link.traceId ?? 'no trace id'));
    const here = location.hash.includes(link.traceId);
    const anchor = el('a', { href: traceHref(link.traceId, link.spanId) }, el('code', { text: link.traceId.slice(0, 16) }), '…');
    if (here) anchor.addEventListener('click', () => this.#jump(link.spanId));
    return el('li', {}, anchor, here ? ' in this trace' : '');
  }
}

function facts(branch) {
  const { span } = branch;
  const own = branch.children.length > 0 ? ms(ownTime(branch)) : undefined;
  const took = span.fold ? ['first to last', ms(span.durationMs), 'From the first call to the end of the last'] : ['took', ms(span.durationMs)];
  const shown = [took, ['began', `+${ms(branch.from)}`], ['self', own, 'Time in which none of its children ran'],
    ['critical', branch.critical.length > 0 ? ms(branch.critical.reduce((sum, [from, to]) => sum + to - from, 0)) : undefined, 'The part of its own time on the critical path']];
  return el('dl', { class: 'details-facts' }, shown.filter(([, value]) => value !== undefined)
    .map(([name, value, hint]) => el('div', { title: hint }, el('dt', { text: name }), el('dd', { text: plain(value).slice(0, 40) }))));
}

function ownTime(branch) {
  let covered = 0;
  let until = branch.from;
  // Children are sorted by start time. Folded spans are excluded, because they are mostly gaps.
  for (const child of branch.children.filter((one) => !one.span.fold)) {
    const from = Math.max(until, child.from);
    const to = Math.min(branch.to, child.to);
    if (to > from) covered += to - from;
    until = Math.max(until, to);
  }
  return branch.to - branch.from - covered;
}

function foldBox(fold, branch) {
  const shown = [['calls', count(fold.count)], ['Σ', ms(fold.sumMs)], ['min', ms(fold.minMs)], ['p50', ms(fold.p50Ms)], ['p99', ms(fold.p99Ms)], ['max', ms(fold.maxMs)]];
  const most = Math.max(1e-9, finite(fold.maxMs));
  const busy = finite(fold.sumMs) / Math.max(1e-9, branch.to - branch.from);
  const mark = (name, value) => el('i', { class: `fold-${name}`, style: { left: percentOf(finite(value), most) }, title: `${name} ${ms(value)}` });
  return el('section', { class: 'fold-box' }, el('h3', { text: `${count(fold.count)} calls in one span` }),
    el('dl', { class: 'details-facts' }, shown.map(([name, value]) => el('div', {}, el('dt', { text: name }), el('dd', { text: value })))),
    el('div', { class: 'fold-range', 'aria-hidden': 'true' }, mark('min', fold.minMs), mark('p50', fold.p50Ms), mark('p99', fold.p99Ms), mark('max', fold.maxMs)),
    el('p', { class: 'quiet', text: `Calls fill ${percent(Math.min(1, busy))} of the time between the first and the last.` }));
}

function lossBox(span) {
  if (!(span.dropped > 0) && !(span.coverage < 1)) return null;
  const seen = span.coverage < 1 ? `${percent(span.coverage)} of the events during this span were received` : 'Some events during this span were lost';
  return el('p', { class: 'warning', text: `${seen}${span.dropped > 0 ? `; ${count(span.dropped)} were lost` : ''}. Counts and sums are lower bounds.` });
}

function events(span) {
  if (!(span.events?.length > 0)) return null;
  return el('section', {}, el('h3', { text: `Events (${count(span.events.length)})` }), span.events.map((event) => el('div', { class: 'event' },
    el('p', {}, el('code', { text: `+${ms(event.atMs)} ` }), foreign(event.name ?? 'unnamed')), table(event.attributes ?? {}))));
}

function attributes(span) {
  const scope = span.scope ? { 'otel.scope.name': span.scope } : {};
  const all = { ...span.attributes, ...scope };
  const number = Object.keys(all).length;
  return el('section', {}, el('h3', { text: `Attributes (${count(number)})` }), number === 0 ? el('p', { class: 'quiet', text: 'None.' }) : table(all));
}

function table(attributes) {
  return el('dl', { class: 'attributes' }, Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => el('div', {}, el('dt', {}, foreign(key)), el('dd', { class: typeof value === 'number' ? 'number-value' : '' }, whole(textOf(value))))));
}

function copy(span) {
  const button = el('button', { type: 'button', class: 'link-button', text: 'Copy as JSON' });
  button.addEventListener('click', async () => {
    const done = await navigator.clipboard?.writeText(JSON.stringify(span, null, 2)).then(() => true, () => false);
    button.textContent = done ? 'Copied' : 'The browser does not allow access to the clipboard';
    setTimeout(() => { button.textContent = 'Copy as JSON'; }, 1500);
  });
  return el('p', {}, button, el('code', { class: 'span-id', text: ` ${span.id}` }));
}
