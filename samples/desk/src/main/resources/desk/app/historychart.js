// @ts-check
// The charts of the history: bars are time intervals, and points are requests. The colour shows
// where prefill ran.

import { el, setText, svg } from './dom.js';
import { bytes, clock, count, finite, many, percent } from './format.js';
import { isTrace, traceHref } from './router.js';

const HEIGHT = 150;
const PAD = { left: 52, right: 12, top: 10, bottom: 22 };

/** Returns whether a decision sends prefill to another pod, for all generations of llm-d's names. */
export function isPd({ decision }) {
  return /prefill|disagg|^pd$/.test(decision ?? '') && !/decode_only/.test(decision ?? '');
}

/** Creates a chart of the share of the prompt that was found in a KV cache, over time. */
export function hitChart() {
  return chart((decisions) => ({
    shown: decisions.filter((one) => Number.isFinite(one.kvHitRatio)),
    value: (one) => one.kvHitRatio,
    y: d3.scaleLinear([0, 1], [HEIGHT - PAD.bottom, PAD.top]),
    ticks: [0, 0.5, 1], name: percent, line: undefined,
  }));
}

/** Creates a chart of the uncached bytes of prompts over time, with the threshold from which prefill
 * runs on another pod.
 */
export function thresholdChart() {
  return chart((decisions) => {
    const shown = decisions.filter((one) => Number.isFinite(one.nonCachedBytes));
    const most = d3.max(shown, (one) => Math.max(one.nonCachedBytes, finite(one.pdThreshold))) || 1;
    const y = d3.scaleSymlog([0, most], [HEIGHT - PAD.bottom, PAD.top]).constant(Math.max(1, most / 20));
    return { shown, value: (one) => one.nonCachedBytes, y, ticks: [0, most / 10, most], name: bytes, line: shown.find((one) => Number.isFinite(one.pdThreshold))?.pdThreshold };
  });
}

function chart(read) {
  const drawing = svg('svg', { class: 'history-chart', height: HEIGHT, 'aria-hidden': 'true', focusable: 'false' });
  const limit = el('span', { class: 'threshold-key', hidden: true });
  const node = el('div', { class: 'history-frame' }, drawing, key(limit));
  let last = [];
  const paintLast = () => {
    if (last.length === 0) return;
    const all = read(last);
    paint(drawing, all, node.clientWidth);
    limit.hidden = all.line === undefined;
    setText(limit, `threshold ${bytes(all.line)}`);
  };
  new ResizeObserver(paintLast).observe(node);
  return { node, draw: (decisions) => { last = decisions; paintLast(); } };
}

/** Creates a chart of requests over time, as stacked bars: prefill on another pod, and decode only.
 * Failed requests of both kinds are marked.
 */
export function requestChart() {
  const drawing = svg('svg', { class: 'history-chart', height: HEIGHT, role: 'img' });
  const failed = el('span', {}, el('i', { class: 'swatch failed' }), 'failed (in either)');
  const node = el('div', { class: 'history-frame' }, drawing, key(failed));
  let last = [];
  const paintLast = () => {
    if (last.length > 0) paintBars(drawing, last, node.clientWidth);
  };
  new ResizeObserver(paintLast).observe(node);
  return { node, draw: (slices) => { last = slices; paintLast(); } };
}

function paintBars(drawing, slices, width) {
  if (width < 120) return;
  drawing.setAttribute('width', width);
  drawing.setAttribute('aria-label', `${many(d3.sum(slices, (one) => one.requests), 'request')}, ${count(d3.sum(slices, (one) => one.failed))} failed`);
  const most = d3.max(slices, (one) => one.requests) || 1;
  const y = d3.scaleLinear([0, most], [HEIGHT - PAD.bottom, PAD.top]);
  const x = d3.scaleBand(d3.range(slices.length), [PAD.left, width - PAD.right]).paddingInner(0.15);
  const bar = (i, from, to, kind) => svg('rect', { x: x(i), width: x.bandwidth(), y: y(to), height: y(from) - y(to), class: `bar ${kind}` });
  const bars = slices.map((one, i) => svg('g', {},
    svg('title', {}, `${clock(one.startMs).slice(0, 8)} · ${many(one.requests, 'request')}, ${one.failed} failed, ${one.disaggregated} with prefill on another pod`),
    bar(i, 0, one.disaggregated, 'to-pd'), bar(i, one.disaggregated, one.requests, 'to-decode'), bar(i, 0, one.failed, 'failed')));
  const rules = [0, most].flatMap((at) => [
    svg('line', { x1: PAD.left, x2: width - PAD.right, y1: y(at), y2: y(at), class: 'rule' }),
    svg('text', { x: PAD.left - 8, y: y(at), dy: '0.32em', 'text-anchor': 'end', class: 'tick' }, count(at))]);
  const ends = [slices[0], slices.at(-1)].map((one, i) =>
    svg('text', { x: i === 0 ? PAD.left : width - PAD.right, y: HEIGHT - 6, 'text-anchor': i === 0 ? 'start' : 'end', class: 'tick' }, clock(one.startMs).slice(0, 8)));
  drawing.replaceChildren(...rules, ...ends, ...bars);
}

function key(limit) {
  return el('p', { class: 'chart-key' }, el('span', {}, el('i', { class: 'swatch to-pd' }), 'prefill on another pod'), el('span', {}, el('i', { class: 'swatch to-decode' }), 'decode only'), limit);
}

function paint(drawing, { shown, value, y, ticks, name, line }, width) {
  if (width < 120) return;
  drawing.setAttribute('width', width);
  const x = d3.scaleLinear(d3.extent(shown, (one) => one.startMs), [PAD.left + 6, width - PAD.right - 6]);
  const rules = ticks.flatMap((at) => [
    svg('line', { x1: PAD.left, x2: width - PAD.right, y1: y(at), y2: y(at), class: 'rule' }),
    svg('text', { x: PAD.left - 8, y: y(at), dy: '0.32em', 'text-anchor': 'end', class: 'tick' }, name(at))]);
  const ends = shown.length > 0 ? x.domain().map((at, i) => svg('text', { x: i === 0 ? PAD.left : width - PAD.right, y: HEIGHT - 6, 'text-anchor': i === 0 ? 'start' : 'end', class: 'tick' }, clock(at).slice(0, 8))) : [];
  const threshold = line === undefined ? [] : [
    svg('line', { x1: PAD.left, x2: width - PAD.right, y1: y(line), y2: y(line), class: 'threshold' })];
  drawing.replaceChildren(...rules, ...threshold, ...ends, ...shown.map((one) => point(one, finite(x(one.startMs), PAD.left), y(value(one)), name(value(one)))));
}

function point(one, cx, cy, said) {
  const dot = svg('circle', { cx, cy, r: 3.5, class: isPd(one) ? 'point to-pd' : 'point to-decode' }, svg('title', {}, `${clock(one.startMs)} · ${said}`));
  if (isTrace(one.traceId)) dot.addEventListener('click', () => { location.hash = traceHref(one.traceId); });
  return dot;
}
