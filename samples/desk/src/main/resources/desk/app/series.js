// @ts-check
// Assigns colours to the services of a trace, in the order of their first span.

const COLOURS = 10;

export class Series {
  #numbers = new Map();

  constructor(spans = []) {
    for (const span of spans) this.of(span.service);
  }

  /** Returns the number of a service's colour. */
  of(service) {
    const name = service ?? '';
    if (!this.#numbers.has(name)) this.#numbers.set(name, this.#numbers.size % COLOURS);
    return this.#numbers.get(name);
  }

  services() {
    return [...this.#numbers.keys()];
  }
}
