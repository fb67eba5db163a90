// @ts-check
// The head of a trace: its name, the explanation, and key figures.

import { el } from './dom.js';
import { foreign, plain } from './foreign.js';
import { clock, count, day, ms, percent } from './format.js';
import { traceHref } from './router.js';
import { STATUS } from './row.js';

/** Creates the head of a trace. `jump` selects a span by its id; `timeline` is true if the trace has
 * the timeline of a cold start.
 */
export function traceHead(summary, desk, compare, jump, timeline) {
  const [status, meaning] = STATUS[summary.status] ?? STATUS.open;
  return el('header', { class: 'trace-head', 'data-status': status },
    el('div', { class: 'head-line' },
      el('a', { class: 'icon-button back', href: desk.list, 'aria-label': 'All requests', title: 'All requests (Esc)', text: '←' }),
      el('h1', {}, el('i', { class: 'dot', role: 'img', 'aria-label': status, title: meaning }), foreign(summary.name ?? 'unnamed'),
        summary.model ? foreign(summary.model, 'head-model') : null),
      el('span', { class: 'actions' }, copyButton(summary.traceId, desk),
        timeline && el('a', { class: 'plain-button', href: `/timelines/${encodeURIComponent(summary.traceId)}`, target: '_blank', rel: 'noopener', text: 'Timeline', title: 'Phases, threads and gaps of the cold start' }),
        el('button', { type: 'button', class: 'plain-button', text: 'Compare with…', title: 'Compare with another request (c)', on: { click: compare } }),
        el('a', { class: 'plain-button', href: `/api/traces/${encodeURIComponent(summary.traceId)}`, target: '_blank', rel: 'noopener', text: 'JSON' }))),
    summary.why ? el('p', { class: 'why' }, whyLink(summary, jump)) : null,
    facts(summary));
}

function whyLink({ why, whySpan, traceId }, jump) {
  return el('a', { href: traceHref(traceId, whySpan), title: 'Show this span', on: { click: (event) => { event.preventDefault(); jump(whySpan); } } }, foreign(why));
}

function facts(summary) {
  const shown = [
    ['First token', ms(summary.ttftMs), 'Time to first token at the gateway'],
    ['Took', ms(summary.durationMs)],
    ['Tokens', count(summary.tokens)],
    ['KV hit', percent(summary.kvHitRatio), 'Share of the prompt found in a KV cache'],
    ['Route', routeOf(summary), 'Decision of the endpoint picker'],
    ['HTTP', summary.httpStatus === undefined ? undefined : String(summary.httpStatus)],
    ['Error', summary.errorType === undefined ? undefined : foreign(summary.errorType)],
    ['Spans', count(summary.spans)],
    ['Began', `${clock(summary.startMs)}`, day(summary.startMs)],
    ['Request id', summary.requestId === undefined ? undefined : foreign(summary.requestId)],
  ];
  return el('dl', { class: 'facts' }, shown.filter(([, value]) => value !== undefined && value !== '–')
    .map(([name, value, hint]) => el('div', { title: hint }, el('dt', { text: name }), el('dd', {}, value))));
}

function routeOf({ route }) {
  if (!route) return undefined;
  return route === 'pd' ? 'prefill + decode' : route === 'decode' ? 'decode only' : plain(route).slice(0, 60);
}

/** Replaces the underscores of a decision or reason by spaces. */
export function inWords(reason) {
  return String(reason).replaceAll('_', ' ');
}

function copyButton(id, desk) {
  const button = el('button', { type: 'button', class: 'copy', title: 'Copy the trace id', 'aria-label': `Copy the trace id ${id}` }, el('code', { text: id }));
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(id);
      desk.announce('Trace id copied');
      button.dataset.done = 'copied';
    } catch {
      getSelection().selectAllChildren(button); // without access to the clipboard, select the id instead
    }
    setTimeout(() => delete button.dataset.done, 1200);
  });
  return button;
}
