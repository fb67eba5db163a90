// @ts-check
// The time axis above the waterfall, its grid lines, and the mark of the first token.

import { el, percentOf, setStyles } from './dom.js';
import { keyOf, nameOf } from './anatomy.js';
import { ms } from './format.js';

const PX_PER_TICK = 110;
const LABEL_PX = 54;

export class Axis {
  #look; #ticks; #parts;
  lines = el('div', { class: 'wf-lines', 'aria-hidden': 'true' });
  marks = el('div', { class: 'wf-lines wf-over', 'aria-hidden': 'true' });

  constructor(look) {
    this.#look = look;
    this.#ticks = el('div', { class: 'axis-ticks' });
    this.#parts = el('div', { class: 'axis-parts' });
    this.node = el('div', { class: 'axis', 'aria-hidden': 'true' }, this.#ticks, this.#parts);
  }

  draw(range) {
    const scale = d3.scaleLinear([range.from, range.to], [0, 1]);
    const ticks = scale.ticks(Math.max(2, Math.floor(this.node.clientWidth / PX_PER_TICK)));
    this.#ticks.replaceChildren(...ticks.filter((at) => (1 - scale(at)) * this.node.clientWidth > LABEL_PX).map((at) => el('span', { text: ms(at), style: { left: percentOf(scale(at), 1) } })));
    this.lines.replaceChildren(...ticks.map((at) => el('i', { style: { left: percentOf(scale(at), 1) } })));
    this.marks.replaceChildren(...this.#firstToken(scale));
    this.#drawParts(scale);
  }

  #firstToken(scale) {
    const first = this.#look.firstTokenMs;
    const at = Number.isFinite(first) ? scale(first) : -1;
    if (at < 0 || at > 1) return [];
    return [el('b', { class: at > 0.85 ? 'flipped' : '', style: { left: percentOf(at, 1) } }, el('span', { text: 'first token' }))];
  }

  // Draws the parts of the time to first token along the axis, above the spans.
  #drawParts(scale) {
    const parts = (this.#look.anatomy?.parts ?? []).filter((part) => Number.isFinite(part.atMs) && part.ms > 0);
    this.#parts.replaceChildren(...parts.map((part) => {
      const from = Math.max(0, Math.min(1, scale(part.atMs)));
      const to = Math.max(0, Math.min(1, scale(part.atMs + part.ms)));
      const node = el('i', { class: `part-${keyOf(part)}`, title: `${nameOf(part)} ${ms(part.ms)}` });
      setStyles(node, { left: percentOf(from, 1), width: percentOf(to - from, 1) });
      return node;
    }));
  }
}
