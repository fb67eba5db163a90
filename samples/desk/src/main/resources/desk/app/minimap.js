// @ts-check
// An overview of the trace with one line per span. Dragging zooms in; a click zooms out.

import { el, setStyles } from './dom.js';
import { colour } from './theme.js';

const HEIGHT = 42;
const SHORTEST_DRAG_PX = 4;

export class Minimap {
  #series; #zoom; #canvas; #window; #left; #right; #whole; #drag;

  constructor(series, zoom) {
    this.#series = series;
    this.#zoom = zoom;
    this.#canvas = el('canvas', { height: HEIGHT, 'aria-hidden': 'true' });
    this.#left = el('i', { class: 'map-out' });
    this.#right = el('i', { class: 'map-out' });
    this.#window = el('i', { class: 'map-drag', hidden: true });
    this.node = el('div', {
      class: 'map-track', title: 'Drag to zoom, click to see all; z and 0 on the keyboard',
      on: {
        pointerdown: (event) => this.#begin(event), pointermove: (event) => this.#move(event),
        pointerup: (event) => this.#end(event), pointercancel: () => this.#stop(),
      },
    }, this.#canvas, this.#left, this.#right, this.#window);
  }

  draw(branches, whole, range) {
    this.#whole = whole;
    const width = this.#canvas.parentElement.clientWidth;
    if (width === 0) return;
    const density = Math.min(2, devicePixelRatio || 1);
    this.#canvas.width = width * density;
    this.#canvas.height = HEIGHT * density;
    this.#paint(branches, whole, this.#canvas.getContext('2d'));
    const share = (at) => Math.max(0, Math.min(1, (at - whole.from) / (whole.to - whole.from))) * 100;
    setStyles(this.#left, { left: '0', width: `${share(range.from)}%` });
    setStyles(this.#right, { left: `${share(range.to)}%`, right: '0' });
  }

  #paint(branches, whole, pen) {
    const { width, height } = this.#canvas;
    const colours = Array.from({ length: 10 }, (_, i) => colour(`--series-${i}`));
    const failed = colour('--error');
    const step = height / Math.max(branches.length, 8);
    const thick = Math.max(1, Math.min(4, step * 0.7));
    branches.forEach((branch, i) => {
      const from = ((branch.from - whole.from) / (whole.to - whole.from)) * width;
      const to = ((branch.to - whole.from) / (whole.to - whole.from)) * width;
      pen.fillStyle = branch.span.error ? failed : colours[this.#series.of(branch.span.service)];
      pen.fillRect(from, i * step, Math.max(1, to - from), thick);
    });
  }

  #begin(event) {
    this.#drag = event.offsetX;
    event.currentTarget.setPointerCapture(event.pointerId);
  }

  #move(event) {
    if (this.#drag === undefined) return;
    const [from, to] = [this.#drag, event.offsetX].sort((a, b) => a - b);
    this.#window.hidden = to - from < SHORTEST_DRAG_PX;
    setStyles(this.#window, { left: `${from}px`, width: `${to - from}px` });
  }

  #end(event) {
    if (this.#drag === undefined) return;
    const width = event.currentTarget.clientWidth;
    const [from, to] = [this.#drag, event.offsetX].sort((a, b) => a - b).map((x) => Math.max(0, Math.min(width, x)));
    this.#stop();
    const at = (x) => this.#whole.from + (x / width) * (this.#whole.to - this.#whole.from);
    this.#zoom(to - from < SHORTEST_DRAG_PX ? undefined : { from: at(from), to: at(to) });
  }

  #stop() {
    this.#drag = undefined;
    this.#window.hidden = true;
  }
}
