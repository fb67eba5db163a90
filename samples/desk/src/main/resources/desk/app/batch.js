// @ts-check
// Shows the requests that shared the engine's batch: exactly if the engine reports its steps, otherwise by overlapping times.

import { el, percentOf } from './dom.js';
import { foreign } from './foreign.js';
import { count, finite, many, ms, percent } from './format.js';
import { compareHref, isTrace, traceHref } from './router.js';

/** Returns the number of other requests that the panel shows. */
export function sharersOf({ parts, batch }) {
  return parts ? new Set(parts.flatMap((part) => part.neighbours.map((one) => one.traceId))).size : (batch?.length ?? 0);
}

export function batchPanel({ parts, batch, summary }) {
  return el('section', { class: 'batch' }, parts ? parts.map((part) => reported(part, summary.traceId)) : overlapping(batch, summary.traceId));
}

function reported({ phases, steps, neighbours }, traceId) {
  return el('section', { class: 'batch-part' }, lanes(phases), steps ? facts(steps) : null, longestWait(neighbours),
    steps ? null : el('p', { class: 'quiet', text: 'The desk has none of the engine\'s steps: they are sampled separately, and old ones are dropped.' }),
    neighbours.length === 0 ? null : el('ol', { class: 'batch-list', 'aria-label': 'Requests in the same steps' }, neighbours.map((one) => row(one, {
      part: one.steps, whole: steps.seen, value: many(one.steps, 'step'), hint: 'Steps that both ran in, as the engine reports them', note: noteOf(one),
    }, traceId))));
}

function lanes(phases) {
  const begin = Math.min(...phases.map((phase) => finite(phase.atMs)));
  const whole = Math.max(1e-6, ...phases.map((phase) => finite(phase.atMs) + finite(phase.ms) - begin));
  return el('div', { class: 'lanes batch-lanes' }, phases.map((phase) => el('div', { class: 'lane', role: 'img', 'aria-label': `${phase.name}: ${ms(phase.ms)}` },
    el('span', { class: 'lane-name', text: phase.name }),
    el('span', { class: 'lane-track' }, el('span', { class: `lane-bar part-${phase.name === 'decode' ? 'first_decode' : phase.name}`, style: { left: percentOf(finite(phase.atMs) - begin, whole), width: percentOf(finite(phase.ms), whole) } })),
    el('span', { class: 'lane-text' }, el('b', { text: ms(phase.ms) }), Number.isFinite(phase.shareMs) ? el('span', { class: 'quiet', title: shareHint(phase), text: shareOf(phase) }) : null))));
}

function shareOf({ steps, tokens, shareMs, busyMs, coverage }) {
  const lost = coverage < 1 ? ` · coverage ${coverage.toFixed(2)}` : '';
  return `${many(steps, 'step')} · ${many(tokens, 'token')} · GPU ${ms(shareMs)} of ${ms(busyMs)} (${percent(shareMs / busyMs)})${lost}`;
}

function shareHint({ model, boundMs, coverage }) {
  return `Its share of the GPU time of these steps, estimated by the model "${model}" with an error of at most ${ms(boundMs)}. Coverage ${coverage}: the share of steps without lost events.`;
}

function facts({ ran, seen, mostMembers, mostUntraced, queuedBehind, stalls, stallMs, leftOut, leftOutMs, untracedMs }) {
  const shown = [
    ['steps here', `${count(seen)} of ${count(ran)}`, 'Engine steps are sampled separately'],
    ['requests in a step', `up to ${count(mostMembers)}`],
    ['without a trace', mostUntraced > 0 ? `up to ${count(mostUntraced)}` : undefined],
    ['queued while', queuedBehind > 0 ? `${many(queuedBehind, 'step')} ran` : undefined],
    ['stalled', stalls > 0 ? `${many(stalls, 'step')}${Number.isFinite(stallMs) ? `, ${ms(stallMs)}` : ''}` : undefined, 'Decode steps that also computed prompts of other requests, and the time by which they exceeded the others'],
    ['left out', leftOut > 0 ? `${many(leftOut, 'step')}, ${ms(leftOutMs)}` : undefined, 'Steps between its first and last step that ran without it: it was preempted, or the batch was full'],
    ['for requests without a trace', untracedMs > 0 ? ms(untracedMs) : undefined, 'The share of these waits that belongs to requests without a trace'],
  ];
  return el('dl', { class: 'pd-facts' }, shown.filter(([, value]) => value !== undefined)
    .map(([name, value, hint]) => el('div', { title: hint }, el('dt', { text: name }), el('dd', { text: value }))));
}

function longestWait([first]) {
  if (!(first?.waitMs > 0)) return null;
  return el('p', { class: 'batch-culprit' }, el('a', { href: traceHref(first.traceId) }, foreign(first.requestId ?? first.name ?? first.traceId)),
    ` made this request wait most: ${ms(first.waitMs)}, by ${many(first.promptTokens, 'token')} of its prompt.`);
}

function noteOf({ promptTokens, waitMs }) {
  const notes = [promptTokens > 0 ? `${many(promptTokens, 'prompt token')}` : undefined, waitMs > 0 ? `made it wait ${ms(waitMs)}` : undefined];
  return notes.filter(Boolean).join(' · ');
}

function overlapping(others, traceId) {
  const sorted = others.toSorted((a, b) => finite(b.overlapMs) - finite(a.overlapMs));
  const most = Math.max(1e-6, finite(sorted[0]?.overlapMs));
  return [
    el('p', { class: 'quiet', text: 'These requests were in the same engine at the same time and shared its GPU. The bar shows for how long.' }),
    el('ol', { class: 'batch-list' }, sorted.map((other) => row(other, {
      part: finite(other.overlapMs), whole: most, value: ms(other.overlapMs),
      hint: other.by === 'link' ? 'Reported by the engine: its spans are linked.' : 'Inferred from overlapping times in the same engine.',
    }, traceId))),
  ];
}

/**
 * @param {any} other
 * @param {{part: number, whole: number, value: string, hint: string, note?: string}} shown
 * @param {string} traceId
 */
function row(other, { part, whole, value, hint, note }, traceId) {
  const isKnown = isTrace(other.traceId);
  const name = foreign(other.requestId ?? other.name ?? other.traceId ?? 'unnamed');
  return el('li', {},
    el('span', { class: 'batch-name' }, isKnown ? el('a', { href: traceHref(other.traceId) }, name) : name, other.model ? foreign(other.model, 'quiet') : null, isKnown ? el('code', { class: 'quiet', text: other.traceId.slice(0, 8) }) : null,
      note ? el('span', { class: 'batch-note', text: note }) : null),
    el('span', { class: 'batch-track', 'aria-hidden': 'true' }, el('i', { style: { width: percentOf(part, whole) } })),
    el('b', { text: value, title: hint }),
    isKnown ? el('a', { class: 'batch-compare', href: compareHref(traceId, other.traceId), text: 'Compare' }) : null);
}
