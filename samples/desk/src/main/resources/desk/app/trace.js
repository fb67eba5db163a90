// @ts-check
// The view of one trace: the explanation, the time to first token and all spans.

import { anatomyPanel } from './anatomy.js';
import * as api from './api.js';
import { batchPanel, sharersOf } from './batch.js';
import { SpanDetails } from './details.js';
import { el } from './dom.js';
import { FlameGraph, SPANS, STACKS } from './flame.js';
import { foreign } from './foreign.js';
import { count, many } from './format.js';
import { loading, notice, failureNotice } from './notice.js';
import { pdPanel } from './pd.js';
import { restate, traceHref } from './router.js';
import { Series } from './series.js';
import { tabs } from './tabs.js';
import { traceHead } from './tracehead.js';
import { SpanTree } from './tree.js';
import { Waterfall } from './waterfall.js';

const SETTLE_MS = 400;
const RETRY_MS = 2500;
const MOST_SERVICES = 8;
const COLD_START = 'llm_d.model_server.cold_start'; // not a request, so it has neither first token nor prefill

export function showTrace(host, desk, place) {
  return new TraceView(host, desk, place);
}

class TraceView {
  title = 'Trace';
  #host; #desk; #traceId; #spanId; #seq; #timer; #abortController = new AbortController(); #undo = [];
  #tree; #waterfall; #details; #tabs; #data; #flame;

  constructor(host, desk, place) {
    this.#host = host;
    this.#desk = desk;
    this.#traceId = place.traceId;
    this.#spanId = place.spanId;
    host.append(el('h1', { class: 'unseen', text: 'Trace' }), loading(9, 'the trace'));
    this.#undo.push(desk.live.on('requests', (news) => this.#changed(news)));
    this.#undo.push(desk.live.on('joined', () => this.#data && this.#query()));
    this.#query();
  }

  get sections() {
    return [{ title: 'Trace', keys: this.#keys() }, { title: 'Its flame graph', keys: this.#flameKeys() }];
  }

  #keys() {
    const rows = (run) => () => (this.#onWaterfall() ? run(this.#waterfall) : false);
    return [
      { keys: ['j', 'ArrowDown'], does: 'next span', run: rows((all) => all.step(1)) },
      { keys: ['k', 'ArrowUp'], does: 'previous span', run: rows((all) => all.step(-1)) },
      { keys: ['ArrowRight'], does: 'open a span, or go to its first child', run: rows((all) => all.inward()) },
      { keys: ['ArrowLeft'], does: 'close a span, or go to its parent', run: rows((all) => all.outward()) },
      { keys: ['Enter'], does: 'details of the span', run: (event) => this.#enter(event) },
      { keys: ['e'], does: 'next error', run: rows((all) => all.nextError()) },
      { keys: ['z'], does: 'zoom to the span', run: rows((all) => all.zoomToSelected()) },
      { keys: ['0'], does: 'show the whole time', run: rows((all) => all.zoomOut()) },
      { keys: ['w'], does: 'waterfall', run: () => this.#tabs?.open('waterfall') },
      { keys: ['f'], does: 'flame graph', run: () => this.#tabs?.open('flame') },
      { keys: ['b'], does: 'shared batch', run: () => this.#tabs?.open('batch') },
      { keys: ['c'], does: 'compare with another request', run: () => this.#compare() },
      { keys: ['Escape'], does: 'close details, zoom out, then back to the requests', run: () => this.#escape() },
    ];
  }

  #flameKeys() {
    const frames = (run) => (event) => (this.#tabs?.current === 'flame' && !isPressable(event.target) ? run(this.#flame) : false);
    return [
      { keys: ['ArrowDown'], does: 'the widest frame that it calls', run: frames((all) => all.inward()) },
      { keys: ['ArrowUp'], does: 'its caller', run: frames((all) => all.outward()) },
      { keys: ['ArrowLeft'], does: 'the frame before it', run: frames((all) => all.sideways(-1)) },
      { keys: ['ArrowRight'], does: 'the frame after it', run: frames((all) => all.sideways(1)) },
      { keys: ['Enter'], does: 'zoom to the frame', run: frames((all) => all.zoomIn()) },
      { keys: ['Backspace'], does: 'show the whole graph', run: frames((all) => all.zoomOut()) },
    ];
  }

  close() {
    this.#abortController.abort();
    clearTimeout(this.#timer);
    this.#undo.forEach((undo) => undo());
    this.#waterfall?.close();
  }

  repaint() {
    this.#waterfall?.draw();
  }

  /** If a new address refers to this trace, selects the span in the address and returns true. */
  moved(place) {
    if (place.view !== 'trace' || place.traceId !== this.#traceId) return false;
    this.#spanId = place.spanId;
    if (place.spanId && this.#tree?.find(place.spanId)) {
      this.#tabs.open('waterfall');
      this.#waterfall.select(this.#tree.find(place.spanId));
    }
    return true;
  }

  #changed(news) {
    const mine = news.find((one) => one.traceId === this.#traceId);
    if (!mine || mine.seq === this.#seq) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#query(), SETTLE_MS);
  }

  async #query() {
    try {
      const data = await api.trace(this.#traceId, this.#abortController.signal);
      if (data.summary.seq === this.#seq) return;
      this.#data = data;
      this.#seq = data.summary.seq;
      this.#draw();
    } catch (failure) {
      if (failure.name === 'AbortError' || this.#data) return;
      this.#host.replaceChildren(failureNotice(failure, () => this.#query()));
      if (failure.kind === 'gone') this.#timer = setTimeout(() => this.#query(), RETRY_MS);
    }
  }

  #draw() {
    const { summary, spans, anatomy, pd, timeline } = this.#data;
    const kept = this.#waterfall?.state();
    const isHeld = this.#host.contains(document.activeElement);
    const openTab = this.#tabs?.current;
    this.#waterfall?.close();
    this.#tree = new SpanTree(spans);
    const series = new Series(spans);
    this.title = summary.name ?? 'Trace';
    document.title = `${this.title.slice(0, 80)} · Trace desk`;
    this.#details = new SpanDetails(series, (spanId) => this.#jump(spanId), () => this.#waterfall.focus());
    this.#waterfall = new Waterfall(this.#tree, { series, anatomy, firstTokenMs: firstTokenOf(this.#data) }, (branch, isAsked) => this.#selected(branch, isAsked));
    this.#host.replaceChildren(
      traceHead(summary, this.#desk, () => this.#compare(), (spanId) => this.#jump(spanId), timeline), warnings(this.#data),
      summary.name === COLD_START ? '' : el('div', { class: 'panels' }, anatomyPanel(anatomy, summary), pdPanel(pd, summary)),
      this.#buildTabs(series, openTab));
    const failed = summary.status === 'error' ? summary.whySpan : undefined;
    this.#waterfall.start(kept, this.#tree.find(this.#spanId ?? (kept ? undefined : failed)));
    if ((!kept || isHeld) && document.activeElement === document.body) this.focus();
  }

  /** Focuses the waterfall if a redraw has removed the focused element. */
  focus() {
    if (this.#onWaterfall()) this.#waterfall.focus();
  }

  #buildTabs(series, openTab) {
    const { flame, stacks, parts } = this.#data;
    const sharers = sharersOf(this.#data);
    this.#tabs = tabs([
      { id: 'waterfall', name: 'Waterfall', key: 'w', make: () => el('div', { class: 'sheet' }, this.#waterfall.node, this.#details.node), keep: true },
      { id: 'flame', name: 'Flame graph', key: 'f', off: stacks || flame ? undefined : 'This request has no stacks or kernel spans.',
        make: () => (this.#flame = stacks ? new FlameGraph(stacks, STACKS) : new FlameGraph(flame, SPANS)).node },
      { id: 'batch', name: `Shared batch${sharers > 0 ? ` (${count(sharers)})` : ''}`, key: 'b',
        off: parts || sharers > 0 ? undefined : 'No other request was in the engine at the same time.', make: () => batchPanel(this.#data) },
    ], openTab, () => this.#waterfall.draw());
    this.#tabs.node.prepend(servicesLegend(series));
    return this.#tabs.node;
  }

  #onWaterfall() {
    return this.#waterfall && this.#tabs.current === 'waterfall';
  }

  #selected(branch, isAsked) {
    this.#spanId = branch.span.id;
    this.#details.show(branch);
    if (isAsked) this.#details.open();
    restate(traceHref(this.#traceId, branch.span.id));
  }

  #jump(spanId) {
    const branch = this.#tree.find(spanId);
    if (!branch) return;
    this.#tabs.open('waterfall');
    this.#waterfall.select(branch, true);
  }

  #enter(event) {
    if (!this.#onWaterfall() || isPressable(event.target)) return false;
    return this.#details.focus();
  }

  #compare() {
    this.#desk.chosen.first = this.#traceId;
    this.#desk.announce('Open the request to compare with');
    this.#desk.go('#/'); // without the current search, which may match no other requests
  }

  #escape() {
    if (this.#details?.close()) return this.#waterfall.focus();
    if (this.#waterfall?.zoomOut()) return true;
    return this.#desk.go(this.#desk.list);
  }
}

// Elements that handle Enter themselves.
function isPressable(target) {
  return target.closest('a, button, summary') !== null;
}

// Returns the time of the first token, in milliseconds since the start of the trace. Uses the TTFT only
// as a last resort, because it may count from the start of a later span.
function firstTokenOf({ summary, anatomy, pd }) {
  const last = anatomy?.parts?.at(-1);
  return pd?.firstTokenAtMs ?? (last ? last.atMs + last.ms : summary.ttftMs);
}

function servicesLegend(series) {
  return el('div', { class: 'services' }, el('span', { class: 'service' }, el('i', { class: 'path-key' }), 'critical path'), series.services().slice(0, MOST_SERVICES).map((service) =>
    el('span', { class: 'service' }, el('i', { class: `swatch series-${series.of(service)}` }), foreign(service || 'unknown service'))));
}

/** Creates the warnings about missing or lost data. */
function warnings({ summary, spans, cut }) {
  const orphans = spans.filter((span) => span.orphan).length;
  const lines = [];
  const warn = (text) => lines.push(el('p', { class: 'warning' }, el('span', { 'aria-hidden': 'true', text: '▲ ' }), text));
  if (summary.status === 'broken') {
    warn(`This trace is broken: ${orphans > 0 ? `${many(orphans, 'span')} arrived without their parent` : 'its root has not arrived'}. A process died or could not export.`);
  }
  if (summary.status === 'open') lines.push(el('p', { class: 'warning calm', text: 'The root span has not arrived yet: the request may still be running. This page updates as spans arrive.' }));
  if (summary.dropped > 0) warn(`${many(summary.dropped, 'event')} of this request were lost; the affected spans are marked.`);
  if (cut > 0) warn(`${many(cut, 'more span')} of this trace are not shown: the desk sends at most ${count(spans.length)}.`);
  if (spans.length === 0) lines.push(notice('All spans of this trace were dropped.'));
  return el('div', { class: 'warnings', role: 'status' }, lines);
}
