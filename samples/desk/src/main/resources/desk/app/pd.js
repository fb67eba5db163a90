// @ts-check
// Shows prefill, decode and the first token on one timeline, with the pods.

import { el, percentOf } from './dom.js';
import { foreign } from './foreign.js';
import { exactMs, finite, ms } from './format.js';
import { inWords } from './tracehead.js';

export function pdPanel(pd, summary) {
  const title = el('h2', { text: 'Prefill and decode' });
  if (!pd) {
    return el('section', { class: 'panel pd', 'aria-label': 'Prefill and decode' }, title,
      el('p', { class: 'quiet', text: 'No span of this request has a P/D decision.' }));
  }
  title.append(foreign(inWords(pd.decision ?? 'undecided'), 'mark'), pd.reason ? el('span', { class: 'because' }, foreign(inWords(pd.reason))) : '');
  const endMs = Math.max(1e-6, finite(summary.durationMs), ...[pd.prefill, pd.decode].filter(Boolean).map((leg) => finite(leg.atMs) + finite(leg.ms)));
  return el('section', { class: 'panel pd', 'aria-label': 'Prefill and decode' }, title,
    el('div', { class: 'lanes' }, lane('prefill', pd.prefill, endMs, summary.route === 'decode' ? 'none' : 'no span'), lane('decode', pd.decode, endMs, 'no span'), firstToken(pd, endMs)),
    facts(pd));
}

function lane(name, leg, endMs, otherwise) {
  if (!leg) return el('div', { class: 'lane lane-none' }, el('span', { class: 'lane-name', text: name }), el('span', { class: 'quiet', text: otherwise }));
  const from = finite(leg.atMs);
  const bar = el('span', { class: `lane-bar part-${name === 'prefill' ? 'prefill' : 'first_decode'}`, style: { left: percentOf(from, endMs), width: percentOf(finite(leg.ms), endMs) } });
  return el('div', { class: 'lane', role: 'img', 'aria-label': `${name}: ${ms(leg.ms)}, from ${ms(from)}` },
    el('span', { class: 'lane-name', text: name }), el('span', { class: 'lane-track' }, bar),
    el('span', { class: 'lane-text' }, el('b', { text: ms(leg.ms) }), leg.pod ? foreign(leg.pod) : null));
}

function firstToken(pd, endMs) {
  if (!Number.isFinite(pd.firstTokenAtMs)) return null;
  return el('div', { class: 'lane-marks', 'aria-hidden': 'true' },
    el('span', { class: 'lane-mark', style: { left: percentOf(pd.firstTokenAtMs, endMs) }, title: `first token at ${ms(pd.firstTokenAtMs)}` }));
}

function facts(pd) {
  const shown = [
    ['first token', Number.isFinite(pd.firstTokenAtMs) ? exactMs(pd.firstTokenAtMs) : undefined],
    ['transfer', Number.isFinite(pd.transferMs) ? exactMs(pd.transferMs) : undefined],
    ['between stages', Number.isFinite(pd.overheadMs) ? exactMs(pd.overheadMs) : undefined],
  ];
  return el('dl', { class: 'pd-facts' }, shown.filter(([, value]) => value !== undefined)
    .map(([name, value]) => el('div', {}, el('dt', { text: name }), el('dd', {}, value))));
}
