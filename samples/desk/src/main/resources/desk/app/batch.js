// Who shared the engine's batch with this request, and for how long.

import { el, percentOf } from './dom.js';
import { foreign } from './foreign.js';
import { finite, ms } from './format.js';
import { compareHref, isTrace, traceHref } from './router.js';

export function batchPanel(others, traceId) {
  const sorted = others.toSorted((a, b) => finite(b.overlapMs) - finite(a.overlapMs));
  const most = Math.max(1e-6, finite(sorted[0]?.overlapMs));
  return el('section', { class: 'batch' },
    el('p', { class: 'quiet', text: 'These requests were in the same engine at the same time and shared its GPU. The bar is how long they were in it together.' }),
    el('ol', { class: 'batch-list' }, sorted.map((other) => row(other, most, traceId))));
}

function row(other, most, traceId) {
  const isKnown = isTrace(other.traceId);
  const name = foreign(other.name ?? other.traceId ?? 'unnamed');
  return el('li', {},
    el('span', { class: 'batch-name' }, isKnown ? el('a', { href: traceHref(other.traceId) }, name) : name, other.model ? foreign(other.model, 'quiet') : null, isKnown ? el('code', { class: 'quiet', text: other.traceId.slice(0, 8) }) : null),
    el('span', { class: 'batch-track', 'aria-hidden': 'true' }, el('i', { style: { width: percentOf(finite(other.overlapMs), most) } })),
    el('b', { text: ms(other.overlapMs), title: other.by === 'link' ? 'The engine says so: its spans are linked.' : 'Seen from their times at the same engine.' }),
    isKnown ? el('a', { class: 'batch-compare', href: compareHref(traceId, other.traceId), text: 'Compare' }) : null);
}
