// @ts-check
// The live list of requests.

import * as api from './api.js';
import { el, setText } from './dom.js';
import { filterBar } from './filter.js';
import { count, many } from './format.js';
import { loading, notice, failureNotice } from './notice.js';
import { bySort, HEADINGS, RequestRow } from './row.js';
import { compareHref, listHref, restate } from './router.js';
import { latencyStrip } from './strip.js';

const PAGE = 100;
const MOST_ROWS = 500;
const ASK_AGAIN_MS = 800;

let lastOpened; // gets the focus when the user returns to the list

export function showList(host, desk, place) {
  return new RequestList(host, desk, place.filter);
}

class RequestList {
  title = 'Requests';
  #host; #desk; #filter; #filterBar; #strip; #rows = new Map(); #summaries = new Map();
  #table; #body; #foot; #newButton; #count; #choice; #paused = false; #pending = new Map(); #abortController; #currentQuery; #filterTimer; #requeryTimer; #matched; #stale = false; #heads; #undo = [];

  constructor(host, desk, filter) {
    this.#host = host;
    this.#desk = desk;
    this.#filter = filter;
    desk.list = listHref(filter); // other views link back to it
    this.#build();
    this.#undo.push(desk.live.on('requests', (news) => this.#received(news)));
    this.#undo.push(desk.live.on('joined', () => this.#connected()));
    const scrolled = () => { if (this.#stale && !this.#currentQuery && this.#mayMoveRows()) this.#query(); };
    window.addEventListener('scroll', scrolled, { passive: true });
    this.#undo.push(() => window.removeEventListener('scroll', scrolled));
    this.#query();
  }

  get keys() {
    return [
      { keys: ['j', 'ArrowDown'], does: 'next request', run: () => this.#step(1) },
      { keys: ['k', 'ArrowUp'], does: 'previous request', run: () => this.#step(-1) },
      { keys: ['Enter'], does: 'open the request, or compare it with the chosen one', run: () => false }, // handled by the focused link
      { keys: ['/'], does: 'search', run: () => this.#filterBar.focus() },
      { keys: ['x'], does: 'choose for comparison; the second choice opens it', run: () => this.#chooseForComparison() },
      { keys: ['p'], does: 'pause or resume live updates', run: () => this.#pause() },
      { keys: ['Escape'], does: 'leave the search, then clear it', run: () => this.#escape() },
    ];
  }

  close() {
    this.#abortController?.abort();
    clearTimeout(this.#filterTimer);
    clearTimeout(this.#requeryTimer);
    this.#undo.forEach((undo) => undo());
  }

  repaint() {
    this.#draw();
  }

  #build() {
    this.#filterBar = filterBar(this.#filter, (filter) => this.#changed({ ...filter, ...(this.#filter.sort && { sort: this.#filter.sort }) }), () => this.#pause());
    this.#strip = latencyStrip();
    this.#count = el('p', { class: 'list-count', role: 'status' });
    this.#newButton = el('button', { type: 'button', class: 'fresh', hidden: true, on: { click: () => this.#scrollToTop() } });
    this.#choice = el('p', { class: 'choice', hidden: true }, el('span', { text: 'Open the request to compare with.' }),
      el('button', { type: 'button', class: 'plain-button', text: 'Do not compare', title: 'Esc', on: { click: () => this.#cancelComparison() } }));
    this.#body = el('div', { class: 'rows', role: 'rowgroup' }, loading(8, 'requests'));
    this.#table = el('div', { class: 'requests', role: 'table', 'aria-label': 'Requests' },
      el('div', { role: 'rowgroup' }, el('div', { class: 'request head', role: 'row' },
        this.#heads = HEADINGS.map((heading) => this.#heading(heading)))),
      this.#body);
    this.#foot = el('div', { class: 'list-foot' });
    this.#host.append(el('h1', { class: 'unseen', text: 'Requests' }), this.#filterBar.node, this.#strip.node,
      el('div', { class: 'list-line' }, this.#count, this.#choice, this.#newButton), this.#table, this.#foot);
    this.#showOrder();
  }

  /** @param {string[]} heading */
  #heading([name, className, hint, sort]) {
    const within = sort ? el('button', { type: 'button', class: 'sort', text: name, on: { click: () => this.#sortBy(sort) } }) : name;
    return el('span', { role: 'columnheader', class: className, title: hint, 'data-sort': sort }, within);
  }

  // Repeated clicks sort largest first, then smallest first, then newest first.
  #sortBy(key) {
    const next = { [key]: `${key}:asc`, [`${key}:asc`]: undefined };
    const { sort, ...others } = this.#filter;
    const wanted = sort in next ? next[sort] : key;
    this.#changed(wanted ? { ...others, sort: wanted } : others);
  }

  #showOrder() {
    const [key, direction] = (this.#filter.sort ?? '').split(':');
    for (const head of this.#heads) {
      if (!head.dataset.sort) continue;
      head.setAttribute('aria-sort', head.dataset.sort !== key ? 'none' : direction === 'asc' ? 'ascending' : 'descending');
    }
  }

  #changed(filter) {
    this.#filter = filter;
    this.#showOrder();
    this.#desk.list = listHref(filter);
    restate(this.#desk.list);
    clearTimeout(this.#filterTimer);
    this.#filterTimer = setTimeout(() => this.#query(), 120);
  }

  async #query() {
    const query = this.#currentQuery = this.#fetchPage();
    try {
      const answer = await query;
      this.#summaries = new Map(answer.requests.map((one) => [one.traceId, one]));
      this.#pending.clear();
      this.#stale = false;
      this.#draw(answer);
      this.#restoreFocus();
    } catch (failure) {
      if (failure.name === 'AbortError' || this.#summaries.size > 0) return;
      this.#rows.clear();
      this.#body.replaceChildren(failureNotice(failure, () => this.#query()));
    } finally {
      if (this.#currentQuery === query) this.#currentQuery = undefined;
    }
  }

  #fetchPage() {
    this.#abortController?.abort();
    this.#abortController = new AbortController();
    return api.requests({ ...this.#filter, limit: PAGE }, this.#abortController.signal);
  }

  // Only the server can apply a filter. So if there is one, new requests make the list query again.
  #received(news) {
    if (this.#isFiltered()) this.#requerySoon();
    else this.#add(news);
  }

  // After a reconnect, the rows may be outdated. If the user is reading, they must not move: the
  // list queries again when the user scrolls up.
  #connected() {
    if (this.#mayMoveRows()) return this.#query();
    this.#stale = true;
    return this.#requerySoon();
  }

  #requerySoon() {
    this.#requeryTimer ??= setTimeout(() => this.#requery(), ASK_AGAIN_MS);
  }

  async #requery() {
    this.#requeryTimer = undefined;
    if (this.#currentQuery) return this.#requerySoon(); // the response of the query in progress may be older than the new requests
    if (this.#mayMoveRows()) return this.#query();
    if (this.#filter.sort) return undefined; // rows would move while the user reads
    const answer = await this.#fetchPage().catch(() => undefined);
    if (!answer) return;
    this.#matched = answer.matched;
    this.#dropUnmatchedPending(answer.requests);
    this.#add(answer.requests);
  }

  // Drops pending requests that no longer match the filter. Those that match are in `latest`, unless
  // they are older than all of its requests.
  #dropUnmatchedPending(latest) {
    const ids = new Set(latest.map((one) => one.traceId));
    const oldest = latest.length < PAGE ? 0 : latest.at(-1).seq;
    for (const one of this.#pending.values()) if (one.seq > oldest && !ids.has(one.traceId)) this.#pending.delete(one.traceId);
  }

  #add(news) {
    for (const one of news) {
      if (this.#summaries.has(one.traceId)) this.#summaries.set(one.traceId, one);
      else this.#pending.set(one.traceId, one);
    }
    for (const id of this.#pending.keys()) if (this.#pending.size > MOST_ROWS) this.#pending.delete(id); // oldest first
    if (this.#mayMoveRows()) this.#showPending();
    else this.#draw();
  }

  #isFiltered() {
    return listHref(this.#filter) !== '#/';
  }

  // Rows must not move while the user reads: after scrolling, when paused, or with the focus below
  // the top, a button announces new requests instead.
  #mayMoveRows() {
    const focused = this.#body.contains(document.activeElement);
    return !this.#paused && window.scrollY < 40 && (!focused || this.#focusedIndex() <= 0);
  }

  #scrollToTop() {
    window.scrollTo(0, 0);
    this.#showPending();
  }

  #showPending() {
    if (this.#isFiltered() || this.#stale) return this.#query(); // some rows may no longer match, or exist
    for (const [id, one] of this.#pending) this.#summaries.set(id, one);
    this.#pending.clear();
    for (const old of this.#ordered().slice(MOST_ROWS)) this.#summaries.delete(old.traceId);
    this.#draw();
  }

  #ordered() {
    return [...this.#summaries.values()].sort(bySort(this.#filter.sort));
  }

  #draw(answer) {
    const ordered = this.#ordered();
    this.#filterBar.learn(ordered);
    this.#strip.draw(ordered);
    this.#placeRows(ordered);
    this.#showCounts(ordered.length, answer);
  }

  #placeRows(ordered) {
    if (ordered.length === 0) {
      this.#rows.clear();
      this.#body.replaceChildren(!this.#isFiltered() ? noRequestsNotice() : this.#noMatchNotice());
      return;
    }
    if (this.#rows.size === 0) this.#body.replaceChildren();
    const longest = ordered.reduce((most, one) => Math.max(most, one.durationMs || 0), 1);
    const scaleMs = 2 ** Math.ceil(Math.log2(longest)); // a power of two, so that bars rarely change when requests arrive
    const known = this.#rows;
    this.#rows = new Map();
    let before = this.#body.firstChild;
    for (const one of ordered) {
      const row = known.get(one.traceId) ?? new RequestRow(known.size > 0, (id) => { lastOpened = id; });
      known.delete(one.traceId);
      row.write(one, scaleMs, this.#desk.chosen.first);
      if (row.node === before) before = before.nextSibling;
      else this.#body.insertBefore(row.node, before);
      this.#rows.set(one.traceId, row);
    }
    for (const row of known.values()) row.node.remove();
  }

  #showCounts(shown, answer) {
    if (answer) this.#matched = answer.matched;
    const filtered = this.#isFiltered();
    setText(this.#count, `${many(shown, 'request')}${filtered ? ` of ${count(this.#matched ?? shown)} that match` : ''}${this.#paused ? ' · paused' : ''}`);
    this.#choice.hidden = !this.#desk.chosen.first;
    const waiting = this.#pending.size;
    this.#newButton.hidden = waiting === 0;
    setText(this.#newButton, `${waiting}${waiting === MOST_ROWS ? ' or more' : ''} new ↑`);
    if (answer) this.#showOlderButton(this.#filter.sort ? shown < Math.min(MOST_ROWS, answer.matched) : answer.requests.length === PAGE);
  }

  #showOlderButton(more) {
    const button = el('button', { type: 'button', class: 'plain-button', text: this.#filter.sort ? 'More requests' : 'Older requests', on: { click: () => this.#queryOlder() } });
    this.#foot.replaceChildren(...(more ? [button] : []));
  }

  async #queryOlder() {
    const more = this.#filter.sort
      ? { limit: Math.min(MOST_ROWS, this.#summaries.size + PAGE) }
      : { limit: PAGE, before: Math.min(...[...this.#summaries.values()].map((one) => one.seq)) };
    const answer = await api.requests({ ...this.#filter, ...more }).catch(() => undefined);
    if (!answer) return;
    for (const one of answer.requests) this.#summaries.set(one.traceId, one);
    this.#draw(answer);
  }

  #noMatchNotice() {
    return notice('No request matches.', 'The search covers trace ids and request ids (from four characters on), models, services, pods, addresses, names and errors.',
      el('button', { type: 'button', class: 'plain-button', text: 'Clear the search', on: { click: () => this.#clear() } }));
  }

  #clear() {
    this.#filterBar.clear();
    this.#changed({});
  }

  #links() {
    return [...this.#body.querySelectorAll('a.open')];
  }

  #focusedIndex() {
    return this.#links().indexOf(document.activeElement);
  }

  #step(by) {
    const links = this.#links();
    const at = this.#focusedIndex();
    const next = links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: 'nearest' });
  }

  #restoreFocus() {
    const row = this.#rows.get(lastOpened);
    lastOpened = undefined;
    row?.node.querySelector('a.open').focus({ preventScroll: true });
    row?.node.scrollIntoView({ block: 'nearest' });
  }

  #chooseForComparison() {
    const id = /** @type {HTMLElement | null} */ (document.activeElement?.closest('.request'))?.dataset.trace;
    if (!id) return false;
    const first = this.#desk.chosen.first;
    if (first && first !== id) {
      this.#desk.go(compareHref(first, id));
      return true;
    }
    this.#desk.chosen.first = first === id ? undefined : id;
    this.#draw();
    return true;
  }

  #cancelComparison() {
    this.#desk.chosen.first = undefined;
    this.#draw();
  }

  #pause() {
    this.#paused = !this.#paused;
    this.#filterBar.showPaused(this.#paused);
    this.#desk.announce(this.#paused ? 'Live updates paused' : 'Live updates resumed');
    if (this.#paused) this.#draw();
    else if (this.#focusedIndex() > 0) this.#scrollToTop();
    else this.#showPending();
  }

  #escape() {
    if (this.#filterBar.hasFocus()) return this.#filterBar.leave();
    if (this.#desk.chosen.first) return this.#cancelComparison();
    return this.#isFiltered() ? this.#clear() : false;
  }
}

function noRequestsNotice() {
  return notice('No request yet. The desk is listening.',
    'Send it traces over OTLP: gRPC on port 4317 or HTTP on port 4318 unless the desk was started with others. For anything that speaks OpenTelemetry:',
    el('pre', { class: 'recipe', text: 'export OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317\nexport OTEL_TRACES_SAMPLER=always_on' }),
    'Or run ./demo in the root of Inferspan. This page shows requests as they arrive.');
}
