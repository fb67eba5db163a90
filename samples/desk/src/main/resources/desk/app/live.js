// @ts-check
// Receives new and changed requests over server-sent events, and reports the state of the
// connection.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;

export class LiveFeed {
  #listeners = { requests: new Set(), stats: new Set(), state: new Set(), joined: new Set() };
  #wait = FIRST_WAIT_MS;
  #source;
  state = 'connecting';

  open() {
    this.#source = new EventSource('/api/live');
    this.#source.addEventListener('open', () => this.#connected());
    this.#source.addEventListener('requests', (event) => this.#tell('requests', event));
    this.#source.addEventListener('stats', (event) => this.#tell('stats', event));
    this.#source.addEventListener('error', () => this.#lost());
  }

  /** Listens to `requests`, `stats`, `state`, or `joined`: the feed is connected, and the page must
   * query earlier requests. Returns a function that removes the listener.
   */
  on(topic, listener) {
    this.#listeners[topic].add(listener);
    return () => this.#listeners[topic].delete(listener);
  }

  #connected() {
    this.#wait = FIRST_WAIT_MS;
    this.#become('live');
  }

  // Reconnects explicitly: browsers do so only after some kinds of failure, and choose their own
  // interval.
  #lost() {
    this.#source.close();
    this.#become('gone');
    setTimeout(() => this.open(), this.#wait);
    this.#wait = Math.min(LONGEST_WAIT_MS, this.#wait * 2);
  }

  #become(state) {
    if (this.state === state) return;
    this.state = state;
    for (const listener of this.#listeners.state) listener(state);
    if (state === 'live') for (const listener of this.#listeners.joined) listener();
  }

  #tell(topic, event) {
    let data;
    try {
      data = JSON.parse(event.data);
    } catch {
      return; // an incomplete event of a server that stopped; the next connection repeats it
    }
    for (const listener of this.#listeners[topic]) listener(data);
  }
}
