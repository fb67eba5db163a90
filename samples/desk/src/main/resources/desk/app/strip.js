// @ts-check
// Shows requests as points by time and duration, so that outliers are visible.

import { el, svg } from './dom.js';
import { plain, cut } from './foreign.js';
import { clock, ms } from './format.js';
import { traceHref } from './router.js';

const HEIGHT = 76;
const REPAINT_MS = 400; // updates arrive up to ten times a second
const PAD = { left: 54, right: 10, top: 8, bottom: 8 };

export function latencyStrip() {
  const chart = svg('svg', { class: 'strip-chart', height: HEIGHT, 'aria-hidden': 'true', focusable: 'false' });
  const node = el('div', { class: 'strip' }, chart);
  let last = [];
  let due;
  const draw = (summaries) => {
    last = summaries.filter((one) => one.durationMs > 0 && Number.isFinite(one.startMs));
    due ??= setTimeout(() => {
      due = undefined;
      paint(chart, last, node.clientWidth);
    }, chart.firstChild ? REPAINT_MS : 0);
  };
  new ResizeObserver(() => paint(chart, last, node.clientWidth)).observe(node);
  return { node, draw };
}

function paint(chart, summaries, width) {
  chart.setAttribute('width', width);
  if (summaries.length === 0 || width < 100) {
    chart.replaceChildren();
    return;
  }
  const x = d3.scaleLinear(d3.extent(summaries, (one) => one.startMs), [PAD.left, width - PAD.right]);
  const [least, most] = d3.extent(summaries, (one) => one.durationMs);
  const y = d3.scaleLog([least / 1.5, most * 1.5], [HEIGHT - PAD.bottom, PAD.top]);
  chart.replaceChildren(...rules(y, width), ...summaries.toReversed().map((one) => point(one, x, y)));
}

function rules(y, width) {
  const ticks = y.ticks(2).filter((value) => /^[125]0*$/.test(String(value)) || value < 1);
  const few = ticks.filter((value) => /^10*$/.test(String(value))).slice(0, 3);
  return (few.length > 0 ? few : ticks.slice(0, 2)).flatMap((value) => [
    svg('line', { x1: PAD.left, x2: width - PAD.right, y1: y(value), y2: y(value), class: 'rule' }),
    svg('text', { x: PAD.left - 8, y: y(value), dy: '0.32em', 'text-anchor': 'end', class: 'tick' }, `${ms(value)}`),
  ]);
}

function point(one, x, y) {
  const at = Number.isFinite(x(one.startMs)) ? x(one.startMs) : PAD.left;
  const dot = svg('circle', { cx: at, cy: y(one.durationMs), r: 3.5, class: `point point-${one.status in { ok: 1, error: 1, open: 1, broken: 1 } ? one.status : 'open'}` },
    svg('title', {}, `${clock(one.startMs)} · ${ms(one.durationMs)} · ${cut(plain(one.name ?? ''), 60)}`));
  dot.addEventListener('click', () => { location.hash = traceHref(one.traceId); });
  return dot;
}
