// @ts-check
// The search field and filters above the list.

import { el } from './dom.js';
import { cut, plain } from './foreign.js';

const STATES = [['', 'All'], ['ok', 'OK'], ['error', 'Errors'], ['broken', 'Broken'], ['open', 'Open']];

/** Creates the filter bar; `changed` is called with a new filter, `pause` when the user pauses or
 * resumes live updates.
 */
export function filterBar(filter, changed, pause) {
  return new FilterBar({ ...filter }, changed, pause);
}

class FilterBar {
  #filter; #changed; #search; #model; #states; #numbers; #pauseButton; #models = new Set();

  constructor(filter, changed, pause) {
    this.#filter = filter;
    this.#changed = changed;
    this.#search = el('input', {
      type: 'search', id: 'search', class: 'search', value: filter.q ?? '', autocomplete: 'off', spellcheck: 'false',
      placeholder: 'Search id, model, service, error', 'aria-label': 'Search requests', 'aria-keyshortcuts': '/',
      on: { input: () => this.#set('q', this.#search.value.trim()) },
    });
    this.#states = STATES.map(([state, name]) => el('button', {
      type: 'button', text: name, 'aria-pressed': String((filter.status ?? '') === state), 'data-state': state,
      on: { click: () => this.#setState(state) },
    }));
    this.#model = el('select', { 'aria-label': 'Model', on: { change: () => this.#set('model', this.#model.value) } }, el('option', { value: '', text: 'All models' }));
    this.#numbers = [this.#number('minMs', 'Took ≥'), this.#number('minTtftMs', 'TTFT ≥')];
    this.#pauseButton = el('button', { type: 'button', class: 'hold', on: { click: pause } });
    this.node = el('form', { class: 'filters', role: 'search', on: { submit: (event) => event.preventDefault() } },
      el('div', { class: 'search-box' }, this.#search, el('kbd', { text: '/', 'aria-hidden': 'true' })),
      el('div', { class: 'segments', role: 'group', 'aria-label': 'Status' }, this.#states),
      el('div', { class: 'more-filters' }, this.#model, this.#numbers.map((number) => number.label), this.#pauseButton));
    this.showPaused(false);
    if (filter.model) this.learn([{ model: filter.model }]);
  }

  #number(key, name) {
    const input = el('input', { type: 'number', min: '0', step: 'any', inputmode: 'decimal', value: this.#filter[key] ?? '', on: { input: () => this.#set(key, input.value) } });
    return { input, label: el('label', { class: 'number' }, el('span', { text: name }), input, el('span', { text: 'ms' })) };
  }

  #setState(state) {
    for (const button of this.#states) button.setAttribute('aria-pressed', String(button.dataset.state === state));
    this.#set('status', state);
  }

  #set(key, value) {
    if (value === '') delete this.#filter[key];
    else this.#filter[key] = value;
    this.#changed({ ...this.#filter });
  }

  /** Adds the models of these requests to the selection. */
  learn(summaries) {
    for (const { model } of summaries) {
      if (!model || this.#models.has(model) || this.#models.size >= 100) continue;
      this.#models.add(model);
      this.#model.append(el('option', { value: model, text: cut(plain(model), 40) }));
      if (model === this.#filter.model) this.#model.value = model;
    }
  }

  clear() {
    this.#filter = {};
    this.#search.value = '';
    this.#model.value = '';
    for (const { input } of this.#numbers) input.value = '';
    for (const button of this.#states) button.setAttribute('aria-pressed', String(button.dataset.state === ''));
  }

  showPaused(paused) {
    this.#pauseButton.textContent = paused ? 'Resume' : 'Pause';
    this.#pauseButton.setAttribute('aria-pressed', String(paused));
    this.#pauseButton.title = paused ? 'Resume live updates (p)' : 'Pause live updates (p)';
  }

  focus() {
    this.#search.focus();
    this.#search.select();
  }

  hasFocus() {
    return this.node.contains(document.activeElement) && document.activeElement !== this.#pauseButton;
  }

  leave() {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  }
}
