// @ts-check
// The history view: requests over time, KV-cache hits, and P/D decisions with their reasons.

import * as api from './api.js';
import { el } from './dom.js';
import { cut, foreign, plain } from './foreign.js';
import { bytes, clock, count, finite, ms, percent } from './format.js';
import { hitChart, isPd, requestChart, thresholdChart } from './historychart.js';
import { RANGES, links } from './latency.js';
import { loading, notice, failureNotice } from './notice.js';
import { historyHref, isTrace, traceHref } from './router.js';
import { inWords } from './tracehead.js';

const LIMIT = 200;
const TITLE = 'Requests, KV hits and P/D decisions';
const SETTLE_MS = 1000;
const NUMBERS = new Set(['Not cached', 'Threshold', 'TTFT']);

export function showHistory(host, desk, place) {
  return new HistoryView(host, desk, place.filter);
}

class HistoryView {
  title = 'History';
  #host; #desk; #minutes; #pod; #pods; #filters; #requests; #slices; #timer; #abortController = new AbortController(); #undo = []; #decisions; #hits; #thresholds; #rows; #reasons; #built = false;

  constructor(host, desk, { minutes, pod = '' }) {
    this.#host = host;
    this.#desk = desk;
    this.#minutes = RANGES.some(([key]) => key === minutes) ? minutes : '60';
    this.#pod = pod;
    this.#filters = el('div', { class: 'filters' });
    host.append(el('h1', { text: TITLE }), loading(8, 'the history'));
    this.#undo.push(desk.live.on('requests', () => this.#querySoon()));
    this.#undo.push(desk.live.on('joined', () => this.#query()));
    this.#query();
  }

  get keys() {
    return [
      { keys: ['j', 'ArrowDown'], does: 'next decision', run: () => this.#step(1) },
      { keys: ['k', 'ArrowUp'], does: 'previous decision', run: () => this.#step(-1) },
      { keys: ['Enter'], does: 'open the request', run: () => false },
      { keys: ['Escape'], does: 'back to the requests', run: () => this.#desk.go('#/') },
    ];
  }

  close() {
    this.#abortController.abort();
    clearTimeout(this.#timer);
    this.#undo.forEach((undo) => undo());
  }

  repaint() {
    if (this.#built) this.#fill();
  }

  #querySoon() {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#query();
    }, SETTLE_MS);
  }

  async #query() {
    try {
      const since = this.#minutes === '0' ? 0 : Date.now() - this.#minutes * 60000;
      const answer = await api.history(since, this.#pod, LIMIT, this.#abortController.signal);
      this.#slices = answer.slices;
      this.#drawFilters(answer.pods);
      this.#decisions = answer.decisions.toSorted((a, b) => b.startMs - a.startMs);
      this.#draw();
    } catch (failure) {
      if (failure.name === 'AbortError' || this.#built) return;
      this.#host.replaceChildren(el('h1', { text: TITLE }), failureNotice(failure, () => this.#query()));
    }
  }

  // Redraws the filters only if the pods have changed, so that an open selection stays open.
  #drawFilters(pods) {
    if (this.#pods?.join() === pods.join()) return;
    this.#pods = pods;
    this.#filters.replaceChildren(
      links('Time range', RANGES, this.#minutes, (key) => historyHref(key, this.#pod)),
      podChoice(pods, this.#pod, (pod) => this.#desk.go(historyHref(this.#minutes, pod))));
  }

  #draw() {
    if (!this.#slices.some((one) => one.requests > 0)) {
      this.#host.replaceChildren(el('h1', { text: TITLE }), this.#filters, notice('No request ended in this time.',
        'A decision appears if the request has the span of the endpoint picker\'s choice between prefill plus decode and decode only (llm_d.epp.profile_handler.pick).'));
      this.#built = false;
      return;
    }
    if (!this.#built) this.#build();
    this.#fill();
  }

  #build() {
    this.#requests = requestChart();
    this.#hits = hitChart();
    this.#thresholds = thresholdChart();
    this.#reasons = el('ul', { class: 'reasons' });
    this.#rows = el('tbody');
    const heads = ['Time', 'Decision', 'Why', 'KV hit', 'Not cached', 'Threshold', 'TTFT', 'Prefill', 'Decode'];
    this.#host.replaceChildren(el('h1', { text: TITLE }), this.#filters,
      el('section', { class: 'panel', 'aria-label': 'Requests over time' }, el('h2', { text: 'Requests' }), this.#requests.node),
      this.#reasons,
      el('div', { class: 'panels' },
        el('section', { class: 'panel', 'aria-label': 'KV hits over time' }, el('h2', { text: 'Prompt found in a KV cache' }), this.#hits.node),
        el('section', { class: 'panel', 'aria-label': 'Bytes not cached against the threshold' }, el('h2', { text: 'Bytes not cached, against the threshold' }), this.#thresholds.node)),
      el('div', { class: 'table-frame', tabindex: '0', role: 'region', 'aria-label': 'Decisions' }, el('table', { class: 'decisions' },
        el('thead', {}, el('tr', {}, heads.map((name) => el('th', { scope: 'col', class: NUMBERS.has(name) ? 'n' : '', text: name })))), this.#rows)));
    this.#built = true;
  }

  #fill() {
    this.#requests.draw(this.#slices);
    this.#hits.draw(this.#decisions);
    this.#thresholds.draw(this.#decisions);
    this.#reasons.replaceChildren(...grouped(this.#decisions).map(([key, group]) => el('li', { class: isPd(group[0]) ? 'to-pd' : 'to-decode' },
      el('b', { text: count(group.length) }), el('span', {}, foreign(inWords(group[0].decision ?? 'undecided'))), el('small', {}, foreign(inWords(key))))));
    const held = document.activeElement?.closest?.('tr')?.dataset.trace;
    this.#rows.replaceChildren(...this.#decisions.map(decisionRow));
    if (held) this.#rows.querySelector(`tr[data-trace="${CSS.escape(held)}"] a`)?.focus({ preventScroll: true });
  }

  #step(by) {
    const links = [...this.#host.querySelectorAll('.decisions a')];
    const at = links.indexOf(document.activeElement);
    links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
  }
}

function podChoice(pods, current, choose) {
  const names = current && !pods.includes(current) ? [...pods, current] : pods;
  const select = el('select', { 'aria-label': 'Pod' },
    el('option', { value: '', text: 'All pods' }), names.map((pod) => el('option', { value: pod, selected: pod === current, text: plain(cut(pod)) })));
  select.addEventListener('change', () => choose(select.value));
  return select;
}

function grouped(decisions) {
  const groups = new Map();
  for (const one of decisions) {
    const key = one.reason ?? one.decision ?? 'no reason given';
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(one);
  }
  return [...groups].sort(([, a], [, b]) => b.length - a.length).slice(0, 6);
}

function decisionRow(one) {
  const time = clock(one.startMs);
  const over = finite(one.nonCachedBytes) >= finite(one.pdThreshold, Infinity);
  return el('tr', { 'data-trace': one.traceId },
    el('td', {}, isTrace(one.traceId) ? el('a', { href: traceHref(one.traceId), text: time }) : time),
    el('td', {}, el('i', { class: `swatch ${isPd(one) ? 'to-pd' : 'to-decode'}` }), foreign(inWords(one.decision ?? 'undecided'))),
    el('td', {}, foreign(inWords(one.reason ?? ''))),
    el('td', { class: 'hit' }, hitBar(one.kvHitRatio)),
    el('td', { class: `n ${over ? 'over' : ''}`, text: bytes(one.nonCachedBytes) }), el('td', { class: 'n', text: bytes(one.pdThreshold) }),
    el('td', { class: 'n', text: ms(one.ttftMs) }), el('td', {}, foreign(one.prefillPod ?? '–')), el('td', {}, foreign(one.decodePod ?? '–')));
}

function hitBar(ratio) {
  if (!Number.isFinite(ratio)) return '–';
  return el('span', {}, el('i', { class: 'hit-bar', 'aria-hidden': 'true' }, el('i', { style: { width: `${Math.max(0, Math.min(1, ratio)) * 100}%` } })), percent(ratio));
}
