// @ts-check
// The latency view: percentiles and error rates, by model, pod or route.

import * as api from './api.js';
import { el } from './dom.js';
import { foreign } from './foreign.js';
import { count, many, ms, percent } from './format.js';
import { loading, notice, failureNotice } from './notice.js';
import { latencyHref, listHref } from './router.js';

const REFRESH_MS = 2000;
const GROUPS = [['model', 'Model'], ['pod', 'Pod'], ['route', 'Route']];
export const RANGES = [['5', '5 minutes'], ['15', '15 minutes'], ['60', '1 hour'], ['0', 'All']];
/** @type {[string, string, (group: any) => any, (value: number) => string][]} */
const MEASURES = [
  ['TTFT', 'Time to first token', (group) => group.ttftMs, ms],
  ['Token gap', 'Time between tokens after the first', (group) => group.tokenGapMs, ms],
  ['Tokens/s', 'Tokens per second over whole requests', (group) => group.tokensPerSecond, rate],
];

export function showLatency(host, desk, place) {
  return new LatencyView(host, desk, place.filter);
}

class LatencyView {
  title = 'Latency';
  #desk; #by; #minutes; #timer; #abortController = new AbortController(); #undo = []; #table;

  constructor(host, desk, { by, minutes }) {
    this.#desk = desk;
    this.#by = GROUPS.some(([key]) => key === by) ? by : 'model';
    this.#minutes = RANGES.some(([key]) => key === minutes) ? minutes : '15';
    this.#table = el('div', { class: 'table-frame', tabindex: '0', role: 'region', 'aria-label': 'Latency' }, loading(4, 'the percentiles'));
    host.append(el('h1', { text: 'Latency and errors' }),
      el('div', { class: 'filters' },
        links('Group by', GROUPS, this.#by, (key) => latencyHref(key, this.#minutes)),
        links('Time range', RANGES, this.#minutes, (key) => latencyHref(this.#by, key))),
      this.#table);
    this.#undo.push(desk.live.on('requests', () => this.#querySoon()));
    this.#undo.push(desk.live.on('joined', () => this.#query()));
    this.#query();
  }

  get keys() {
    return [{ keys: ['Escape'], does: 'back to the requests', run: () => this.#desk.go('#/') }];
  }

  close() {
    this.#abortController.abort();
    clearTimeout(this.#timer);
    this.#undo.forEach((undo) => undo());
  }

  #querySoon() {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#query();
    }, REFRESH_MS);
  }

  async #query() {
    const since = this.#minutes === '0' ? 0 : Date.now() - this.#minutes * 60000;
    try {
      const { groups } = await api.latency(this.#by, since, this.#abortController.signal);
      this.#table.replaceChildren(groups.length > 0 ? tableOf(groups, this.#by) : notice('No request ended in this time.'));
    } catch (failure) {
      if (failure.name !== 'AbortError') this.#table.replaceChildren(failureNotice(failure, () => this.#query()));
    }
  }
}

export function links(label, all, current, href) {
  return el('nav', { class: 'segments', 'aria-label': label }, all.map(([key, name]) =>
    el('a', { href: href(key), text: name, 'aria-current': key === current ? 'true' : undefined })));
}

function tableOf(groups, by) {
  const measures = MEASURES.flatMap(([name, hint]) => ['p50', 'p95', 'p99'].map((share) => [`${name} ${share}`, hint]));
  const heads = [[GROUPS.find(([key]) => key === by)[1], ''], ['Requests', ''], ['Errors', 'Requests that failed or are incomplete'], ...measures];
  return el('table', { class: 'decisions latency' },
    el('thead', {}, el('tr', {}, heads.map(([name, hint], i) => el('th', { scope: 'col', class: i > 0 ? 'n' : '', text: name, title: hint })))),
    el('tbody', {}, groups.map((group) => row(group, by))));
}

function row(group, by) {
  const filter = by === 'model' ? { model: group.name } : { q: group.name };
  const name = by === 'route' || group.name === 'unknown' ? foreign(group.name) : el('a', { href: listHref(filter) }, foreign(group.name));
  const errors = el('td', { class: `n ${group.errors > 0 ? 'over' : ''}`, title: many(group.errors, 'error'), text: percent(group.errors / group.requests) });
  const figures = MEASURES.flatMap(([, , read, shown]) => ['p50', 'p95', 'p99'].map((share) => el('td', { class: 'n', text: shown(read(group)[share]) })));
  return el('tr', {}, el('td', {}, name), el('td', { class: 'n', text: count(group.requests) }), errors, figures);
}

function rate(value) {
  return Number.isFinite(value) ? value.toFixed(value < 10 ? 1 : 0) : '–';
}
