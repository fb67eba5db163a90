// @ts-check
'use strict';
const ROW = 18;
/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);
const {unit, difference} = document.body.dataset;
const compared = difference === 'true';
/** @type {[string, (hash: number) => string][]} */
const PALETTES = [
  ['CPU', (h) => `hsl(${34 + h % 20} ${82 + h % 15}% ${58 + h % 9}%)`],
  ['kernel', (h) => `hsl(${8 + h % 14} ${75 + h % 15}% ${57 + h % 9}%)`],
  ['GPU', (h) => `hsl(${198 + h % 18} ${78 + h % 15}% ${52 + h % 9}%)`],
  ['GPU detail', (h) => `hsl(${198 + h % 18} ${70 + h % 15}% ${76 + h % 9}%)`],
  ['other', () => 'hsl(0 0% 68%)'],
];
const MATCH = '#d81bce';

let names, kinds, colours, depth, name, end, total, before, left, rows;
let root = 0, pattern = null, hovered = -1;

/** The index in PALETTES, by the suffix of the name. */
function kindOf(text) {
  if (text.endsWith('_[k]')) return 1;
  if (text.endsWith('_[G]')) return 2;
  if (text.endsWith('_[g]')) return 3;
  return text === '-' || text === 'all' || text === '[truncated]' ? 4 : 0;
}

/** The same name has the same colour in every graph. */
function hash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return h >>> 0;
}

async function unpack() {
  const bytes = Uint8Array.from(atob(byId('data').textContent), (c) => c.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(plain).text();
}

function parse(text) {
  const line = text.indexOf('\n');
  const count = Number(text.slice(0, line));
  const head = text.split('\n', count + 1);
  names = head.slice(1);
  const numbers = text.slice(head.join('\n').length + 1).split(' ');
  const width = compared ? 4 : 3;
  const size = Math.floor(numbers.length / width);
  depth = new Int32Array(size); name = new Int32Array(size); end = new Int32Array(size);
  total = new Float64Array(size); before = new Float64Array(size); left = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    depth[i] = parseInt(numbers[i * width], 36);
    name[i] = parseInt(numbers[i * width + 1], 36);
    total[i] = parseInt(numbers[i * width + 2], 36);
    before[i] = compared ? parseInt(numbers[i * width + 3], 36) : 0;
  }
  kinds = names.map(kindOf);
  colours = names.map((text, i) => PALETTES[kinds[i]][1](hash(text)));
  layOut(size);
}

/** Adds the values of callees to their callers, and places each frame in its caller. */
function layOut(size) {
  const parent = new Int32Array(size), open = [];
  for (let i = 0; i < size; i++) {
    open.length = depth[i];
    parent[i] = open.length ? open[open.length - 1] : -1;
    open.push(i);
    end[i] = size;
  }
  rows = 0;
  for (let i = size - 1; i > 0; i--) {
    total[parent[i]] += total[i];
    before[parent[i]] += before[i];
    rows = Math.max(rows, depth[i] + 1);
  }
  const next = new Float64Array(size), last = [];
  for (let i = 0; i < size; i++) {
    while (last.length > depth[i]) end[last.pop()] = i;
    last.push(i);
    if (i > 0) { left[i] = next[parent[i]]; next[parent[i]] += total[i]; }
    next[i] = left[i];
  }
}

/** Red where the share grew, blue where it shrank. */
function changeColour(i) {
  const change = total[i] / (total[0] || 1) - before[i] / (before[0] || 1);
  const strength = Math.min(1, Math.sqrt(Math.abs(change)) * 1.6);
  return change === 0 ? 'hsl(0 0% 82%)' : `hsl(${change > 0 ? 6 : 214} ${20 + 75 * strength}% ${84 - 30 * strength}%)`;
}

/** Calls for each frame that is wide enough to see. */
function visible(width, call) {
  const scale = width / (total[root] || 1), path = [];
  for (let i = 0; i <= root; i++) if (i <= root && root < end[i]) path.push(i);
  for (const i of path) if (i !== root) call(i, 0, width);
  for (let i = root; i < end[root];) {
    const w = total[i] * scale;
    if (w < 0.4) { i = end[i]; continue; }
    call(i, (left[i] - left[root]) * scale, w);
    i++;
  }
}

function draw() {
  const canvas = byId('graph'), width = canvas.clientWidth, height = rows * ROW;
  const dense = height * devicePixelRatio < 16384 ? devicePixelRatio : 1;
  canvas.style.height = `${height}px`;
  canvas.width = width * dense; canvas.height = height * dense;
  const c = canvas.getContext('2d');
  c.scale(dense, dense);
  c.font = '12px system-ui, sans-serif'; c.textBaseline = 'middle';
  const perChar = c.measureText('abcdefghij_:<').width / 13;
  visible(width, (i, x, w) => {
    const y = height - (depth[i] + 1) * ROW, text = names[name[i]];
    c.globalAlpha = i !== root && depth[i] <= depth[root] ? 0.5 : 1;
    c.fillStyle = pattern && pattern.test(text) ? MATCH : compared ? changeColour(i) : colours[name[i]];
    c.fillRect(x, y, Math.max(w - 0.6, 0.4), ROW - 1);
    if (i === hovered) { c.strokeStyle = '#000'; c.strokeRect(x + 0.5, y + 0.5, Math.max(w - 1.6, 1), ROW - 2); }
    const fits = Math.floor((w - 6) / perChar);
    if (fits < 3) return;
    c.fillStyle = pattern && pattern.test(text) ? '#fff' : '#111';
    c.fillText(text.length <= fits ? text : text.slice(0, fits - 1) + '…', x + 3, y + ROW / 2, w - 5);
  });
}

function frameAt(x, y) {
  const canvas = byId('graph'), row = rows - 1 - Math.floor(y / ROW);
  let found = -1;
  visible(canvas.clientWidth, (i, begin, w) => { if (depth[i] === row && x >= begin && x < begin + w) found = i; });
  return found;
}

const share = (part, whole) => `${(100 * part / (whole || 1)).toFixed(2)} %`;

function amount(value) {
  const nanos = unit === 'ns' ? value : unit === 'us' ? value * 1e3 : -1;
  if (nanos < 0) return `${value.toLocaleString('en')} ${unit}`;
  return nanos >= 1e9 ? `${(nanos / 1e9).toFixed(2)} s` : nanos >= 1e6 ? `${(nanos / 1e6).toFixed(2)} ms` : `${(nanos / 1e3).toFixed(1)} µs`;
}

function describe(i) {
  const now = `${names[name[i]]} · ${amount(total[i])} · ${share(total[i], total[0])}`;
  return compared ? `${now}, before ${share(before[i], before[0])}` : now;
}

function hover(event) {
  const i = frameAt(event.offsetX, event.offsetY), tip = byId('tip');
  tip.style.display = i < 0 ? 'none' : 'block';
  if (i >= 0) {
    tip.textContent = describe(i);
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 8 : event.clientY + 18}px`;
  }
  if (i !== hovered) { hovered = i; draw(); byId('line').textContent = i < 0 ? '' : describe(i); }
}

function zoom(i) {
  root = Math.max(0, i);
  byId('reset').disabled = root === 0;
  draw();
}

/** A frame within a matching one is not counted again. */
function search(text) {
  try { pattern = text ? new RegExp(text, 'i') : null; } catch {
    pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
  }
  const hit = pattern && names.map((candidate) => pattern.test(candidate));
  let matched = 0;
  for (let i = 0; hit && i < total.length;) {
    if (hit[name[i]]) { matched += total[i]; i = end[i]; } else i++;
  }
  byId('matched').textContent = pattern ? `matched ${share(matched, total[0])}` : '';
  draw();
}

function legend() {
  const entries = compared
    ? [['more than before', 'hsl(6 95% 54%)'], ['less than before', 'hsl(214 95% 54%)'], ['unchanged', 'hsl(0 0% 82%)']]
    : PALETTES.map(([label, colour]) => [label, colour(7)]).filter((_, kind) => kinds.includes(kind));
  for (const [label, colour] of entries) {
    const entry = document.createElement('span'), box = document.createElement('i');
    box.style.background = colour;
    entry.append(box, label);
    byId('legend').append(entry);
  }
}

unpack().then((text) => {
  parse(text);
  legend();
  draw();
  const canvas = byId('graph');
  canvas.addEventListener('mousemove', hover);
  canvas.addEventListener('mouseleave', () => { byId('tip').style.display = 'none'; hovered = -1; draw(); });
  canvas.addEventListener('click', (event) => { const i = frameAt(event.offsetX, event.offsetY); if (i >= 0) zoom(i); });
  byId('search').addEventListener('input', () => search(byId('search').value));
  byId('reset').addEventListener('click', () => zoom(0));
  addEventListener('resize', draw);
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape') zoom(0);
    if (event.key === '/' && event.target !== byId('search')) { event.preventDefault(); byId('search').focus(); }
  });
  scrollTo(0, document.body.scrollHeight);
  document.body.dataset.frames = String(total.length);
  document.body.dataset.ready = String(Math.round(performance.now()));
});
