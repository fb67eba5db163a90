// @ts-check
// Receives new and changed requests over server-sent events, and reports the state of the
// connection.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;

export class LiveFeed {
  #listeners = { requests: new Set(), stats: new Set(), state: new Set(), joined: new Set() };
  #retryMs = FIRST_WAIT_MS;
  #source;
  state = 'connecting';

  open() {
    this.#source = new EventSource('/api/live');
    this.#source.addEventListener('open', () => this.#connected());
    this.#source.addEventListener('requests', (event) => this.#dispatch('requests', event));
    this.#source.addEventListener('stats', (event) => this.#dispatch('stats', event));
    this.#source.addEventListener('error', () => this.#lost());
  }

  /** Adds a listener to a topic: `requests`, `stats`, `state` or `joined`. `joined` means that the feed
   * has connected, and that the page must query requests that it missed. Returns a function that
   * removes the listener.
   */
  on(topic, listener) {
    this.#listeners[topic].add(listener);
    return () => this.#listeners[topic].delete(listener);
  }

  #connected() {
    this.#retryMs = FIRST_WAIT_MS;
    this.#setState('live');
  }

  // Reconnects explicitly: browsers do so only after some kinds of failure, and choose their own
  // interval.
  #lost() {
    this.#source.close();
    this.#setState('gone');
    setTimeout(() => this.open(), this.#retryMs);
    this.#retryMs = Math.min(LONGEST_WAIT_MS, this.#retryMs * 2);
  }

  #setState(state) {
    if (this.state === state) return;
    this.state = state;
    for (const listener of this.#listeners.state) listener(state);
    if (state === 'live') for (const listener of this.#listeners.joined) listener();
  }

  #dispatch(topic, event) {
    let data;
    try {
      data = JSON.parse(event.data);
    } catch {
      return; // an incomplete event of a server that stopped; the next connection repeats it
    }
    for (const listener of this.#listeners[topic]) listener(data);
  }
}
