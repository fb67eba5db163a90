// @ts-check
// Aligns the spans of two requests and finds their differences. Does not use the DOM.

import { keyOf, PARTS } from './anatomy.js';
import { finite } from './format.js';

const MOST_ROWS = 2000;

/** Merges two trees into rows `{ name, level, a?, b? }`. Spans with the same name and matching
 * parents form pairs, in the order of their start.
 */
export function aligned(treeA, treeB) {
  const rows = [];
  const open = roots(treeA.roots, treeB.roots).map((pair) => ({ ...pair, level: 1 })).toReversed();
  while (open.length > 0 && rows.length < MOST_ROWS) {
    const row = open.pop();
    rows.push(row);
    const below = paired(row.a?.children ?? row.looseA ?? [], row.b?.children ?? row.looseB ?? []);
    for (const pair of below.toReversed()) open.push({ ...pair, level: row.level + 1 });
  }
  return { rows, isCut: open.length > 0 };
}

// If one request has no root, its orphans are paired with the children of the other's root.
function roots(listA, listB) {
  const pairs = paired(listA, listB);
  const looseA = pairs.filter((pair) => !pair.b).map((pair) => pair.a);
  const looseB = pairs.filter((pair) => !pair.a).map((pair) => pair.b);
  const holderA = looseA.find((root) => holdsAll(root, looseB));
  const holderB = looseB.find((root) => holdsAll(root, looseA));
  if (holderA) return pairs.filter((pair) => pair.a).map((pair) => (pair.a === holderA ? { ...pair, looseB } : pair));
  if (holderB) return pairs.filter((pair) => pair.b).map((pair) => (pair.b === holderB ? { ...pair, looseA } : pair));
  return pairs;
}

function holdsAll(root, loose) {
  const names = new Set(root.children.map(nameOf));
  return loose.length > 0 && loose.every((branch) => names.has(nameOf(branch)));
}

function paired(listA, listB) {
  const free = new Map();
  for (const branch of listB) {
    const name = nameOf(branch);
    if (!free.has(name)) free.set(name, []);
    free.get(name).push(branch);
  }
  const pairs = listA.map((a) => ({ name: nameOf(a), a, b: free.get(nameOf(a))?.shift() }));
  const rest = [...free.values()].flat().map((b) => ({ name: nameOf(b), a: undefined, b }));
  return pairs.concat(rest).sort((x, y) => (x.a ?? x.b).from - (y.a ?? y.b).from);
}

function nameOf(branch) {
  return branch.span.name ?? '';
}

/** Returns the parts of both times to first token as `{ key, a, b, by }`, in the order of PARTS; an
 * empty list if a request has no first token. All values are milliseconds; `by` is b − a.
 */
export function partDifferences(anatomyA, anatomyB) {
  if (!anatomyA || !anatomyB) return [];
  const a = sums(anatomyA);
  const b = sums(anatomyB);
  return Object.keys(PARTS).filter((key) => a[key] > 0 || b[key] > 0)
    .map((key) => ({ key, a: a[key] ?? 0, b: b[key] ?? 0, by: (b[key] ?? 0) - (a[key] ?? 0) }));
}

function sums(anatomy) {
  const sums = {};
  for (const part of anatomy.parts ?? []) sums[keyOf(part)] = (sums[keyOf(part)] ?? 0) + finite(part.ms);
  return sums;
}

/** Returns the attributes whose values differ between two spans, as `{ key, a, b }`. Excludes ids of
 * requests, processes and threads, which always differ.
 */
export function attributeDifferences(spanA, spanB) {
  const a = spanA.attributes ?? {};
  const b = spanB.attributes ?? {};
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return keys.filter((key) => !/(request[._]id|\.pid|thread\.id|bootstrap_room)$/.test(key) && JSON.stringify(a[key]) !== JSON.stringify(b[key]))
    .map((key) => ({ key, a: a[key], b: b[key] }));
}

/** Returns the rows of spans that only the request `side` ('a' or 'b') has, without the spans below them. */
export function onlyIn(rows, side) {
  const other = side === 'a' ? 'b' : 'a';
  const both = new Set(rows.filter((row) => row.a && row.b).map((row) => row[side]));
  return rows.filter((row) => row[side] && !row[other]).filter((row) => !row[side].parent || both.has(row[side].parent));
}
