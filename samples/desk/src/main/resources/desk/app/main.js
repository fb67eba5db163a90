// @ts-check
// Starts the page: selects the view for the address, and sets up keyboard, live feed and theme.

import { el, setText } from './dom.js';
import { count } from './format.js';
import { Keys } from './keys.js';
import { LiveFeed } from './live.js';
import { notice } from './notice.js';
import { parse } from './router.js';
import { wireTheme } from './theme.js';
import { showList } from './list.js';
import { showTrace } from './trace.js';
import { showCompare } from './compare.js';
import { showHistory } from './history.js';
import { showLatency } from './latency.js';

const VIEWS = { list: showList, trace: showTrace, compare: showCompare, history: showHistory, latency: showLatency, unknown: showUnknown };

const host = document.getElementById('view');
const keys = new Keys(document.getElementById('keys'), () => current?.focus?.());
const live = new LiveFeed();
const turnTheme = wireTheme(document.getElementById('theme'), () => current?.repaint?.());
const desk = { live, announce, go: (hash) => { location.hash = hash; }, chosen: { first: undefined }, list: '#/' };
let current;

const everywhere = {
  title: 'Everywhere',
  keys: [
    { keys: ['?'], does: 'this page', run: () => keys.help() },
    { keys: ['r'], does: 'all requests', run: () => desk.go('#/') },
    { keys: ['l'], does: 'latency by model, pod and route', run: () => desk.go('#/latency') },
    { keys: ['h'], does: 'history of KV hits and P/D decisions', run: () => desk.go('#/history') },
    { keys: ['t'], does: 'colours: system, dark, light', run: turnTheme },
  ],
};

function show() {
  const place = parse(location.hash);
  if (current?.moved?.(place)) return; // the same trace with another span: the view only selects the span
  current?.close?.();
  host.replaceChildren();
  host.className = `view view-${place.view}`;
  window.scrollTo(0, 0);
  current = VIEWS[place.view](host, desk, place);
  document.title = `${current.title} · Trace desk`;
  keys.use(...(current.sections ?? [{ title: current.title, keys: current.keys ?? [] }]), everywhere);
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('nav [data-view]'))) {
    if (link.dataset.view === place.view) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function showUnknown(host) {
  host.append(notice('Page not found.', el('p', {}, el('a', { href: '#/', text: 'All requests' }))));
  return { title: 'Not found' };
}

function announce(text) {
  setText(document.getElementById('said'), text);
}

const STATE_NAMES = { connecting: 'connecting', live: 'live', gone: 'reconnecting' };
const gone = document.getElementById('gone');
const linkState = document.getElementById('link-state');

function showState(state) {
  linkState.dataset.state = state;
  setText(linkState, STATE_NAMES[state]);
  gone.hidden = state !== 'gone';
  if (state === 'gone') setText(gone, `The desk has not responded since ${new Date().toLocaleTimeString('en-GB')}. This page shows the last known state and reconnects automatically.`);
}

function showStats(stats) {
  const lost = Object.values(stats.dropped ?? {}).reduce((sum, n) => sum + n, 0);
  const node = document.getElementById('stats');
  setText(node, `${count(stats.traces)} traces · ${count(stats.spans)} spans${lost > 0 ? ` · ${count(lost)} dropped` : ''}`);
  node.classList.toggle('lossy', lost > 0);
  node.title = lost > 0
    ? Object.entries(stats.dropped).map(([reason, n]) => `${count(n)} ${reason}`).join('\n')
    : `Room for ${count(stats.maxSpans)} spans; nothing was dropped.`;
}

document.getElementById('help').addEventListener('click', () => keys.help());
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  host.focus();
});
window.addEventListener('hashchange', show);
live.on('state', showState);
live.on('stats', showStats);
live.open();
show();
