// @ts-check
// Placeholders for content that is loading, empty, unknown or unreachable. They say what the user
// can do.

import { el } from './dom.js';

/** Creates grey lines that are as high as the expected content, so that its arrival does not move the
 * page.
 */
export function loading(lines, what) {
  const bars = Array.from({ length: lines }, (_, i) =>
    el('div', { class: 'ghost', style: { width: `${[86, 64, 73, 92, 58][i % 5]}%` } }));
  return el('div', { class: 'loading', role: 'status', 'aria-label': `Loading ${what}` }, bars);
}

/** Creates a centred sentence; `hints` (strings or elements) follow in smaller type. */
export function notice(title, ...hints) {
  return el('div', { class: 'notice' }, el('h2', { text: title }),
    hints.map((hint) => (typeof hint === 'string' ? el('p', { text: hint }) : hint)));
}

/** Creates the notice of a failed API call; `again` repeats the call. */
export function failureNotice(failure, again) {
  const retry = el('button', { type: 'button', class: 'plain-button', text: 'Try again', on: { click: again } });
  if (failure.kind === 'unknown') {
    return notice('The desk does not have this trace.',
      'It was never received, or it was dropped to make room. A trace appears as soon as its first span arrives.',
      el('p', {}, el('a', { href: '#/', text: 'All requests' })));
  }
  if (failure.kind === 'gone') {
    return notice('The desk does not answer.', 'Is its process still running? This page retries automatically.', retry);
  }
  return notice('The request failed.', failure.message ?? 'The response could not be read.', retry);
}
