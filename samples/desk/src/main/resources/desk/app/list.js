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
  #host; #desk; #filter; #bar; #strip; #rows = new Map(); #summaries = new Map();
  #table; #body; #foot; #fresh; #count; #choice; #paused = false; #waiting = new Map(); #asking; #own; #timer; #due; #matched; #stale = false; #heads; #undo = [];

  constructor(host, desk, filter) {
    this.#host = host;
    this.#desk = desk;
    this.#filter = filter;
    desk.list = listHref(filter); // other views link back to it
    this.#build();
    this.#undo.push(desk.live.on('requests', (news) => this.#arrived(news)));
    this.#undo.push(desk.live.on('joined', () => this.#joined()));
    const scrolled = () => { if (this.#stale && !this.#own && this.#isCalm()) this.#ask(); };
    window.addEventListener('scroll', scrolled, { passive: true });
    this.#undo.push(() => window.removeEventListener('scroll', scrolled));
    this.#ask();
  }

  get keys() {
    return [
      { keys: ['j', 'ArrowDown'], does: 'next request', run: () => this.#step(1) },
      { keys: ['k', 'ArrowUp'], does: 'previous request', run: () => this.#step(-1) },
      { keys: ['Enter'], does: 'open the request, or compare it with the chosen one', run: () => false }, // handled by the focused link
      { keys: ['/'], does: 'search', run: () => this.#bar.focus() },
      { keys: ['x'], does: 'choose for comparison; the second choice opens it', run: () => this.#choose() },
      { keys: ['p'], does: 'pause or resume live updates', run: () => this.#pause() },
      { keys: ['Escape'], does: 'leave the search, then clear it', run: () => this.#escape() },
    ];
  }

  close() {
    this.#asking?.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#due);
    this.#undo.forEach((undo) => undo());
  }

  repaint() {
    this.#draw();
  }

  #build() {
    this.#bar = filterBar(this.#filter, (filter) => this.#changed({ ...filter, ...(this.#filter.sort && { sort: this.#filter.sort }) }), () => this.#pause());
    this.#strip = latencyStrip();
    this.#count = el('p', { class: 'list-count', role: 'status' });
    this.#fresh = el('button', { type: 'button', class: 'fresh', hidden: true, on: { click: () => this.#goUp() } });
    this.#choice = el('p', { class: 'choice', hidden: true }, el('span', { text: 'Open the request to compare with.' }),
      el('button', { type: 'button', class: 'plain-button', text: 'Do not compare', title: 'Esc', on: { click: () => this.#letGo() } }));
    this.#body = el('div', { class: 'rows', role: 'rowgroup' }, loading(8, 'requests'));
    this.#table = el('div', { class: 'requests', role: 'table', 'aria-label': 'Requests' },
      el('div', { role: 'rowgroup' }, el('div', { class: 'request head', role: 'row' },
        this.#heads = HEADINGS.map((heading) => this.#heading(heading)))),
      this.#body);
    this.#foot = el('div', { class: 'list-foot' });
    this.#host.append(el('h1', { class: 'unseen', text: 'Requests' }), this.#bar.node, this.#strip.node,
      el('div', { class: 'list-line' }, this.#count, this.#choice, this.#fresh), this.#table, this.#foot);
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
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), 120);
  }

  async #ask() {
    const own = this.#own = this.#question();
    try {
      const answer = await own;
      this.#summaries = new Map(answer.requests.map((one) => [one.traceId, one]));
      this.#waiting.clear();
      this.#stale = false;
      this.#draw(answer);
      this.#comeBack();
    } catch (failure) {
      if (failure.name === 'AbortError' || this.#summaries.size > 0) return;
      this.#rows.clear();
      this.#body.replaceChildren(failureNotice(failure, () => this.#ask()));
    } finally {
      if (this.#own === own) this.#own = undefined;
    }
  }

  #question() {
    this.#asking?.abort();
    this.#asking = new AbortController();
    return api.requests({ ...this.#filter, limit: PAGE }, this.#asking.signal);
  }

  // The server applies filters, so with a filter, new requests only trigger another query.
  #arrived(news) {
    if (this.#isFiltered()) this.#askSoon();
    else this.#take(news);
  }

  // After a reconnect, the rows may be outdated. If the user is reading, they must not move: the
  // list queries again when the user scrolls up.
  #joined() {
    if (this.#isCalm()) return this.#ask();
    this.#stale = true;
    return this.#askSoon();
  }

  #askSoon() {
    this.#due ??= setTimeout(() => this.#dueAgain(), ASK_AGAIN_MS);
  }

  async #dueAgain() {
    this.#due = undefined;
    if (this.#own) return this.#askSoon(); // the response of the query in progress may be older than the new requests
    if (this.#isCalm()) return this.#ask();
    if (this.#filter.sort) return undefined; // rows would move while the user reads
    const answer = await this.#question().catch(() => undefined);
    if (!answer) return;
    this.#matched = answer.matched;
    this.#forgetAllBut(answer.requests);
    this.#take(answer.requests);
  }

  // Drops pending requests that no longer match the filter. Those that match are in `latest`, unless
  // they are older than all of its requests.
  #forgetAllBut(latest) {
    const ids = new Set(latest.map((one) => one.traceId));
    const oldest = latest.length < PAGE ? 0 : latest.at(-1).seq;
    for (const one of this.#waiting.values()) if (one.seq > oldest && !ids.has(one.traceId)) this.#waiting.delete(one.traceId);
  }

  #take(news) {
    for (const one of news) {
      if (this.#summaries.has(one.traceId)) this.#summaries.set(one.traceId, one);
      else this.#waiting.set(one.traceId, one);
    }
    for (const id of this.#waiting.keys()) if (this.#waiting.size > MOST_ROWS) this.#waiting.delete(id); // oldest first
    if (this.#isCalm()) this.#admit();
    else this.#draw();
  }

  #isFiltered() {
    return listHref(this.#filter) !== '#/';
  }

  // Rows must not move while the user reads: after scrolling, when paused, or with the focus below
  // the top, a button announces new requests instead.
  #isCalm() {
    const focused = this.#body.contains(document.activeElement);
    return !this.#paused && window.scrollY < 40 && (!focused || this.#focusedIndex() <= 0);
  }

  #goUp() {
    window.scrollTo(0, 0);
    this.#admit();
  }

  #admit() {
    if (this.#isFiltered() || this.#stale) return this.#ask(); // some rows may no longer match, or exist
    for (const [id, one] of this.#waiting) this.#summaries.set(id, one);
    this.#waiting.clear();
    for (const old of this.#ordered().slice(MOST_ROWS)) this.#summaries.delete(old.traceId);
    this.#draw();
  }

  #ordered() {
    return [...this.#summaries.values()].sort(bySort(this.#filter.sort));
  }

  #draw(answer) {
    const ordered = this.#ordered();
    this.#bar.learn(ordered);
    this.#strip.draw(ordered);
    this.#place(ordered);
    this.#tell(ordered.length, answer);
  }

  #place(ordered) {
    if (ordered.length === 0) {
      this.#rows.clear();
      this.#body.replaceChildren(!this.#isFiltered() ? nothingYet() : this.#nothingFound());
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

  #tell(shown, answer) {
    if (answer) this.#matched = answer.matched;
    const filtered = this.#isFiltered();
    setText(this.#count, `${many(shown, 'request')}${filtered ? ` of ${count(this.#matched ?? shown)} that match` : ''}${this.#paused ? ' · paused' : ''}`);
    this.#choice.hidden = !this.#desk.chosen.first;
    const waiting = this.#waiting.size;
    this.#fresh.hidden = waiting === 0;
    setText(this.#fresh, `${waiting}${waiting === MOST_ROWS ? ' or more' : ''} new ↑`);
    if (answer) this.#older(this.#filter.sort ? shown < Math.min(MOST_ROWS, answer.matched) : answer.requests.length === PAGE);
  }

  #older(more) {
    const button = el('button', { type: 'button', class: 'plain-button', text: this.#filter.sort ? 'More requests' : 'Older requests', on: { click: () => this.#askOlder() } });
    this.#foot.replaceChildren(...(more ? [button] : []));
  }

  async #askOlder() {
    const more = this.#filter.sort
      ? { limit: Math.min(MOST_ROWS, this.#summaries.size + PAGE) }
      : { limit: PAGE, before: Math.min(...[...this.#summaries.values()].map((one) => one.seq)) };
    const answer = await api.requests({ ...this.#filter, ...more }).catch(() => undefined);
    if (!answer) return;
    for (const one of answer.requests) this.#summaries.set(one.traceId, one);
    this.#draw(answer);
  }

  #nothingFound() {
    return notice('No request matches.', 'The search covers trace ids and request ids (from four characters on), models, services, pods, addresses, names and errors.',
      el('button', { type: 'button', class: 'plain-button', text: 'Clear the search', on: { click: () => this.#clear() } }));
  }

  #clear() {
    this.#bar.clear();
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

  #comeBack() {
    const row = this.#rows.get(lastOpened);
    lastOpened = undefined;
    row?.node.querySelector('a.open').focus({ preventScroll: true });
    row?.node.scrollIntoView({ block: 'nearest' });
  }

  #choose() {
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

  #letGo() {
    this.#desk.chosen.first = undefined;
    this.#draw();
  }

  #pause() {
    this.#paused = !this.#paused;
    this.#bar.showPaused(this.#paused);
    this.#desk.announce(this.#paused ? 'Live updates paused' : 'Live updates resumed');
    if (this.#paused) this.#draw();
    else if (this.#focusedIndex() > 0) this.#goUp();
    else this.#admit();
  }

  #escape() {
    if (this.#bar.hasFocus()) return this.#bar.leave();
    if (this.#desk.chosen.first) return this.#letGo();
    return this.#isFiltered() ? this.#clear() : false;
  }
}

function nothingYet() {
  return notice('No request yet. The desk is listening.',
    'Send it traces over OTLP: gRPC on port 4317 or HTTP on port 4318 unless the desk was started with others. For anything that speaks OpenTelemetry:',
    el('pre', { class: 'recipe', text: 'export OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317\nexport OTEL_TRACES_SAMPLER=always_on' }),
    'Or run ./demo in the root of Inferspan. This page shows requests as they arrive.');
}
