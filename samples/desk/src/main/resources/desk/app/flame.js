// @ts-check
// The flame graph of one request, with the root at the top: width is time or number of samples,
// depth is the call depth.

import { el, setText, svg } from './dom.js';
import { cut, plain } from './foreign.js';
import { count, finite, ms, percent } from './format.js';

const ROW = 20;
const NARROWEST_PX = 0.7;
const PX_PER_LETTER = 6.6;
const SHADES = 3;
const KINDS = ['cpu', 'kernel', 'gpu', 'none'];

// Units and legends of the two sources of a flame graph: the trace's spans, and recorded stacks.
export const SPANS = {
  amount: ms, of: 'of the time in calls',
  legend: { cpu: 'span, or marker of the engine', kernel: 'system call, or wait in the kernel', gpu: 'call of CUDA or NCCL' },
};
export const STACKS = {
  amount: count, of: 'of what was recorded',
  legend: { cpu: 'function', kernel: 'kernel function', gpu: 'GPU kernel, or a detail of it', none: 'boundary between CPU and GPU, or truncated stack' },
};

export class FlameGraph {
  #root; #zoomed; #selected; #chart; #line; #words; #width = 0;

  constructor(flame, words) {
    this.#words = words;
    this.#root = d3.hierarchy(flame, (frame) => frame.children);
    measure(this.#root);
    this.#zoomed = this.#root;
    this.#selected = this.#root;
    this.#chart = svg('svg', { class: 'flame-chart', role: 'img', 'aria-label': `Flame graph, ${this.#root.descendants().length} frames` });
    this.#line = el('p', { class: 'flame-line', role: 'status' });
    const frame = el('div', { class: 'flame-frame', tabindex: '0', role: 'application', 'aria-label': 'Flame graph: arrows move, Enter zooms, Backspace shows all' }, this.#chart);
    this.node = el('section', { class: 'flame' }, this.#line, frame, legend(this.#root, words.legend));
    new ResizeObserver(() => this.#resized(frame.clientWidth)).observe(frame);
    this.#describe(this.#root);
  }

  #resized(width) {
    if (width === this.#width || width === 0) return;
    this.#width = width;
    this.#draw();
  }

  #draw() {
    const shown = this.#frames();
    const deepest = shown.reduce((most, { row }) => Math.max(most, row), 0);
    this.#chart.setAttribute('width', String(this.#width));
    this.#chart.setAttribute('height', String((deepest + 1) * ROW));
    this.#chart.replaceChildren(...shown.map((frame) => this.#frame(frame)));
  }

  // The callers of the zoomed frame fill the width. Below it, only frames that are wide enough to
  // see are drawn.
  #frames() {
    const scale = this.#width / (this.#zoomed.to - this.#zoomed.from || 1);
    const shown = this.#zoomed.ancestors().slice(1).map((node) => ({ node, row: node.depth, x: 0, width: this.#width, isAbove: true }));
    const open = [this.#zoomed];
    while (open.length > 0) {
      const node = open.pop();
      const width = (node.to - node.from) * scale;
      if (width < NARROWEST_PX) continue;
      shown.push({ node, row: node.depth, x: (node.from - this.#zoomed.from) * scale, width, isAbove: false });
      open.push(...(node.children ?? []));
    }
    return shown;
  }

  #frame({ node, row, x, width, isAbove }) {
    const name = plain(cut(node.data.name ?? '', 300));
    const letters = Math.floor((width - 8) / PX_PER_LETTER);
    const group = svg('g', { transform: `translate(${x},${row * ROW})`, class: `frame flame-${kindOf(node)} shade-${shadeOf(name)}${isAbove ? ' above' : ''}${node === this.#selected ? ' here' : ''}` },
      svg('rect', { width: Math.max(0.5, width - 1), height: ROW - 1, rx: 2 }),
      letters >= 3 ? svg('text', { x: 5, y: ROW / 2, dy: '0.33em' }, name.length <= letters ? name : cut(name, letters - 1)) : null);
    group.addEventListener('click', () => this.#zoom(node));
    group.addEventListener('pointerenter', () => this.#describe(node));
    return group;
  }

  #zoom(node) {
    this.#zoomed = node;
    this.#select(node);
  }

  #select(node) {
    this.#selected = node;
    this.#describe(node);
    this.#draw();
  }

  #describe(node) {
    const share = percent(node.total / this.#root.total);
    const callers = node.ancestors().slice(1, 4).map((one) => plain(cut(one.data.name ?? '', 40))).join(' ← ');
    setText(this.#line, `${plain(cut(node.data.name ?? '', 200))} · ${this.#words.amount(node.total)} · ${share} ${this.#words.of}${callers ? ` · from ${callers}` : ''}`);
  }

  inward() {
    this.#step(this.#selected.children?.[0]);
  }

  outward() {
    this.#step(this.#selected.parent);
  }

  sideways(by) {
    const siblings = this.#selected.parent?.children ?? [this.#selected];
    this.#step(siblings[siblings.indexOf(this.#selected) + by]);
  }

  #step(node) {
    if (node) this.#select(node);
  }

  zoomIn() {
    this.#zoom(this.#selected);
  }

  zoomOut() {
    this.#zoom(this.#root);
  }
}

// A frame's width is its own value, or the sum of its children if that is larger.
function measure(root) {
  root.eachAfter((node) => {
    const below = (node.children ?? []).reduce((sum, child) => sum + child.total, 0);
    node.total = Math.max(0, finite(node.data.value), below);
  });
  root.from = 0;
  root.to = root.total;
  root.eachBefore((node) => {
    node.children?.sort((a, b) => b.total - a.total);
    let from = node.from;
    for (const child of node.children ?? []) {
      child.from = from;
      child.to = from += child.total;
    }
  });
}

function legend(root, names) {
  const used = new Set(root.descendants().map(kindOf));
  return el('ul', { class: 'flame-legend' }, KINDS.filter((kind) => used.has(kind) && names[kind]).map((kind) =>
    el('li', {}, el('i', { class: `swatch flame-${kind}` }), el('span', { text: names[kind] }))));
}

function kindOf(node) {
  return KINDS.includes(node.data.kind) ? node.data.kind : 'cpu';
}

// A name has the same colour in all flame graphs.
function shadeOf(name) {
  let hash = 7;
  for (let i = 0; i < Math.min(name.length, 64); i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return hash % SHADES;
}
