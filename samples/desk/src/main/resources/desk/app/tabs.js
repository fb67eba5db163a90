// @ts-check
// Tabs in the ARIA pattern: one tab stop, and arrow keys move between tabs. A panel is created when
// first opened.

import { el } from './dom.js';

/** Creates tabs from `sheets`: `{ id, name, key, make, off? }`. `make` creates the panel; `off` is the
 * reason why the tab is disabled. `openFirst` is the id of the tab to open (default: the first one).
 * `shown` is called when another tab has been opened.
 */
export function tabs(sheets, openFirst, shown) {
  return new Tabs(sheets, openFirst, shown);
}

class Tabs {
  #sheets; #buttons; #panels; #shown;
  current;

  constructor(sheets, openFirst, shown) {
    this.#sheets = sheets;
    this.#shown = shown;
    this.#buttons = sheets.map((sheet) => this.#button(sheet));
    this.#panels = sheets.map((sheet) => el('div', { role: 'tabpanel', id: `panel-${sheet.id}`, 'aria-labelledby': `tab-${sheet.id}`, hidden: true }));
    this.node = el('section', { class: 'tabs' }, el('div', { role: 'tablist', 'aria-label': 'Views of the trace', on: { keydown: (event) => this.#arrow(event) } }, this.#buttons), this.#panels);
    this.open(openFirst ?? sheets[0].id);
  }

  #button(sheet) {
    return el('button', {
      type: 'button', role: 'tab', id: `tab-${sheet.id}`, 'aria-controls': `panel-${sheet.id}`, 'aria-disabled': sheet.off ? 'true' : undefined,
      title: sheet.off ?? `${sheet.name} (${sheet.key})`, text: sheet.name, on: { click: () => this.open(sheet.id) },
    });
  }

  /** Opens a tab; returns false if it is disabled. */
  open(id) {
    const at = this.#sheets.findIndex((sheet) => sheet.id === id);
    if (at < 0 || this.#sheets[at].off) return false;
    this.current = id;
    this.#buttons.forEach((button, i) => {
      button.setAttribute('aria-selected', String(i === at));
      button.tabIndex = i === at ? 0 : -1;
    });
    if (!this.#panels[at].firstChild) this.#panels[at].append(this.#sheets[at].make());
    this.#panels.forEach((panel, i) => { panel.hidden = i !== at; });
    if (this.node.isConnected) this.#shown();
    return true;
  }

  #arrow(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const usable = this.#sheets.filter((sheet) => !sheet.off);
    const at = usable.findIndex((sheet) => sheet.id === this.current);
    this.open(usable[(at + by + usable.length) % usable.length].id);
    this.#buttons[this.#sheets.findIndex((sheet) => sheet.id === this.current)].focus();
    event.preventDefault();
    event.stopPropagation();
  }
}
