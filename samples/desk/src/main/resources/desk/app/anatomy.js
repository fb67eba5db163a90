// @ts-check
// Shows the time to the first token, divided into consecutive parts.

import { el, percentOf } from './dom.js';
import { cut, plain } from './foreign.js';
import { exactMs, finite, ms, percent } from './format.js';

export const PARTS = {
  queue: 'queue',
  schedule: 'schedule',
  kv_lookup: 'KV lookup',
  connect: 'connect',
  upstream: 'upstream',
  proxy: 'proxy',
  wire: 'wire',
  engine: 'engine',
  prefill: 'prefill',
  transfer: 'transfer',
  first_decode: 'first decode',
  other: 'other',
};

const EQUAL_MS = 0.05;
const LABEL_SHARE = 0.09;

export function anatomyPanel(anatomy, summary) {
  const title = el('h2', {}, 'Time to first token');
  if (!anatomy) {
    return el('section', { class: 'panel anatomy', 'aria-label': 'Time to first token' }, title,
      el('p', { class: 'quiet', text: Number.isFinite(summary.ttftMs) ? `${ms(summary.ttftMs)}; no span divides it into parts.` : 'No span of this request has a time to first token.' }));
  }
  title.append(el('b', { text: exactMs(anatomy.ttftMs) }), sumLine(anatomy));
  return el('section', { class: 'panel anatomy', 'aria-label': 'Time to first token' }, title,
    anatomyBar(anatomy, anatomy.ttftMs), legend(anatomy));
}

/** Creates the bar of the parts without a legend. Its scale may be longer than the time to first token. */
export function anatomyBar(anatomy, scaleMs) {
  const parts = partsOf(anatomy);
  const words = parts.map((part) => `${nameOf(part)} ${ms(part.ms)}`).join(', ');
  return el('div', { class: 'anatomy-bar', role: 'img', 'aria-label': `${ms(anatomy.ttftMs)}: ${words}` },
    parts.map((part) => el('span', {
      class: `part part-${keyOf(part)}`, style: { width: percentOf(part.ms, scaleMs) }, title: `${nameOf(part)} ${exactMs(part.ms)}`,
      text: part.ms / scaleMs > LABEL_SHARE ? nameOf(part) : '',
    })));
}

function legend(anatomy) {
  return el('ul', { class: 'legend' }, byKind(partsOf(anatomy)).map(([kind, parts]) => {
    const total = sumOf(parts);
    const sources = [...new Set(parts.map((part) => part.source).filter(Boolean))].map((source) => plain(cut(String(source), 120)));
    return el('li', { title: [percent(total / anatomy.ttftMs), ...sources].join('\nfrom ') },
      el('i', { class: `swatch part-${kind}` }), el('span', { class: 'legend-name', text: PARTS[kind] }), el('b', { text: exactMs(total) }));
  }));
}

// Groups the parts by kind, because a kind of work can occur more than once before the first token.
function byKind(parts) {
  return Object.keys(PARTS).map((kind) => [kind, parts.filter((part) => keyOf(part) === kind)]).filter(([, some]) => some.length > 0);
}

function sumOf(parts) {
  return parts.reduce((total, part) => total + part.ms, 0);
}

function sumLine(anatomy) {
  const sum = sumOf(partsOf(anatomy));
  const isWhole = Math.abs(sum - anatomy.ttftMs) <= EQUAL_MS;
  const verdict = isWhole ? 'The sum of the parts equals the time to first token' : 'The sum of the parts differs from the time to first token';
  const engine = Number.isFinite(anatomy.engineTtftMs) ? el('span', { title: 'From the arrival at the engine that sent the first token' }, ` · engine alone ${exactMs(anatomy.engineTtftMs)}`) : null;
  return el('span', { class: isWhole ? 'sum' : 'sum sum-off' }, el('span', { class: 'sum-value', title: verdict, text: `Σ ${exactMs(sum)} ${isWhole ? '✓' : '≠'}` }), engine);
}

function partsOf(anatomy) {
  return (anatomy.parts ?? []).filter((part) => finite(part.ms) > 0);
}

/** Returns a part's key if it is in PARTS, else `other`. */
export function keyOf(part) {
  return Object.hasOwn(PARTS, part.key) ? part.key : 'other';
}

export function nameOf(part) {
  return PARTS[keyOf(part)];
}
