// @ts-check
// Keyboard shortcuts. Views register keys with a description, from which the help page is
// generated.

import { el } from './dom.js';

const NAMES = { ArrowDown: '↓', ArrowUp: '↑', ArrowLeft: '←', ArrowRight: '→', Escape: 'Esc', ' ': 'Space' };

export class Keys {
  #sections = [];
  #dialog;

  /** @param focusLost called when the help page closes and the previously focused element no longer
   * exists
   */
  constructor(dialog, focusLost) {
    this.#dialog = dialog;
    document.addEventListener('keydown', (event) => this.#pressed(event));
    dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
    dialog.addEventListener('close', () => hasNoFocus(dialog) && focusLost());
  }

  /** Sets the sections `{ title, keys: [{ keys, does, run }] }`. If several sections have a pressed key,
   * the first one whose `run` does not return false handles it.
   */
  use(...sections) {
    this.#sections = sections;
  }

  #pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (this.#dialog.open) {
      if (event.key === '?') this.#dialog.close();
      return;
    }
    if (isTyping(event.target) && event.key !== 'Escape') return;
    for (const section of this.#sections) {
      const known = section.keys.find((entry) => entry.keys.includes(event.key));
      if (known && known.run(event) !== false) {
        event.preventDefault();
        return;
      }
    }
  }

  help() {
    const close = el('button', { type: 'button', class: 'plain-button', text: 'Close', on: { click: () => this.#dialog.close() } });
    this.#dialog.replaceChildren(
      el('div', { class: 'keys-head' }, el('h2', { id: 'keys-title', text: 'Keyboard' }), close),
      el('div', { class: 'keys-body' }, this.#sections.map(helpSection)));
    this.#dialog.showModal();
  }
}

function helpSection(section) {
  const rows = section.keys.map((entry) => el('div', { class: 'keys-row' },
    el('dt', {}, entry.keys.map((key) => el('kbd', { text: NAMES[key] ?? key }))),
    el('dd', { text: entry.does })));
  return el('section', {}, el('h3', { text: section.title }), el('dl', {}, rows));
}

// Returns whether no element of the page has the focus. A closed dialog keeps the focus until the next
// frame, which counts as no focus.
function hasNoFocus(dialog) {
  return document.activeElement === document.body || dialog.contains(document.activeElement);
}

function isTyping(target) {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
