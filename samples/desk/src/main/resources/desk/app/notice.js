// What stands where there is nothing to show: loading, empty, unknown, gone. Each says what to do next.

import { el } from './dom.js';

/** Grey lines of the height that the content will have, so that nothing jumps when it comes. */
export function loading(lines, what) {
  const bars = Array.from({ length: lines }, (_, i) =>
    el('div', { class: 'ghost', style: { width: `${[86, 64, 73, 92, 58][i % 5]}%` } }));
  return el('div', { class: 'loading', role: 'status', 'aria-label': `Loading ${what}` }, bars);
}

/** A sentence in the middle of an empty place; `hints` follow in smaller type, strings or elements. */
export function notice(title, ...hints) {
  return el('div', { class: 'notice' }, el('h2', { text: title }),
    hints.map((hint) => (typeof hint === 'string' ? el('p', { text: hint }) : hint)));
}

/** What a failed question looks like. */
export function unanswered(failure, again) {
  const retry = el('button', { type: 'button', class: 'plain-button', text: 'Try again', on: { click: again } });
  if (failure.kind === 'unknown') {
    return notice('The desk does not hold this trace.',
      'It was never received, or it was the oldest when room was needed. A trace that is still under way appears as soon as its first span arrives.',
      el('p', {}, el('a', { href: '#/', text: 'All requests' })));
  }
  if (failure.kind === 'gone') {
    return notice('The desk does not answer.', 'Is its process still running? This page asks again by itself.', retry);
  }
  return notice('That did not work.', failure.message ?? 'The answer could not be read.', retry);
}
