// @ts-check
// The spans of a trace as a tree, with open and closed branches and the critical path.
// Does not recurse, because a hostile trace can nest all of its spans.

import { finite } from './format.js';

const SHORT_SHARE = 0.01;

/** A span in the tree. Times are milliseconds since the start of the trace. */
class Branch {
  children = [];
  parent;
  level = 1;
  isOpen = true;
  below = 0;
  errorsBelow = 0;
  critical = [];

  constructor(span) {
    this.span = span;
    this.from = finite(span.atMs);
    this.to = this.from + Math.max(0, finite(span.durationMs));
  }

  /** The span's name, without the suffix of folded spans. */
  get name() {
    return (this.span.fold ? this.span.name?.replace(/ \(folded\)$/, '') : this.span.name) || 'unnamed';
  }

  /** The span's duration or, for a folded span, the time in its calls: its duration includes the gaps
   * between them.
   */
  get tookMs() {
    return this.span.fold ? this.span.fold.sumMs : this.span.durationMs;
  }
}

export class SpanTree {
  roots = [];
  all = [];
  #byId = new Map();

  constructor(spans) {
    for (const span of spans) this.#add(span);
    for (const branch of this.all) this.#attach(branch);
    this.#order();
    this.endMs = this.all.reduce((latest, branch) => Math.max(latest, branch.to), 0);
    this.startMs = this.all.reduce((first, branch) => Math.min(first, branch.from), 0);
    if (this.roots.length > 0) markCritical(longest(this.roots));
    this.#closeShort();
  }

  find(spanId) {
    return this.#byId.get(spanId);
  }

  /** Returns the branches whose ancestors are all open, from top to bottom. */
  visible() {
    const rows = [];
    const open = this.roots.toReversed();
    while (open.length > 0) {
      const branch = open.pop();
      rows.push(branch);
      if (branch.isOpen) for (let i = branch.children.length - 1; i >= 0; i--) open.push(branch.children[i]);
    }
    return rows;
  }

  /** Opens all ancestors of a span, so that it becomes visible. */
  reveal(branch) {
    for (let up = branch.parent; up; up = up.parent) up.isOpen = true;
  }

  #add(span) {
    if (this.#byId.has(span.id)) return; // a duplicate
    const branch = new Branch(span);
    this.#byId.set(span.id, branch);
    this.all.push(branch);
  }

  #attach(branch) {
    const parent = this.#byId.get(branch.span.parentId);
    if (!parent || parent === branch) this.roots.push(branch);
    else {
      branch.parent = parent;
      parent.children.push(branch);
    }
  }

  // Orders the spans from the roots down. A span that is unreachable because of a cycle of parents
  // becomes a root.
  #order() {
    const order = [];
    const seen = new Set();
    const walk = (root) => {
      const open = [root];
      while (open.length > 0) {
        const branch = open.pop();
        if (seen.has(branch)) continue;
        seen.add(branch);
        branch.level = branch.parent ? branch.parent.level + 1 : 1;
        branch.children.sort((a, b) => a.from - b.from);
        order.push(branch);
        open.push(...branch.children.toReversed());
      }
    };
    this.roots.sort((a, b) => a.from - b.from);
    for (const root of [...this.roots]) walk(root);
    for (const lost of this.all) if (!seen.has(lost)) this.#makeRoot(lost, walk);
    this.#countBelow(order);
    this.all = order;
  }

  #makeRoot(lost, walk) {
    lost.parent.children = lost.parent.children.filter((child) => child !== lost);
    lost.parent = undefined;
    this.roots.push(lost);
    walk(lost);
  }

  // Closes branches that took less than 1 % of the request, unless a span below failed.
  #closeShort() {
    const short = (this.endMs - this.startMs) * SHORT_SHARE;
    for (const branch of this.all) branch.isOpen = branch.children.length === 0 || branch.to - branch.from >= short || branch.errorsBelow > 0 || !branch.parent;
  }

  #countBelow(order) {
    for (const branch of order.toReversed()) {
      if (!branch.parent) continue;
      branch.parent.below += branch.below + 1;
      branch.parent.errorsBelow += branch.errorsBelow + (branch.span.error ? 1 : 0);
    }
  }
}

function longest(roots) {
  return roots.reduce((most, root) => (root.to - root.from > most.to - most.from ? root : most));
}

// Walks backwards from the end: the critical path goes through the child that ended last, then through the child that
// ended last before that one began. Skips folded spans, which are many short calls and not one interval.
function markCritical(root) {
  const open = [[root, root.to]];
  while (open.length > 0) {
    const [branch, end] = open.pop();
    let cursor = Math.min(branch.to, end);
    for (const child of branch.children.filter((one) => !one.span.fold).sort((a, b) => b.to - a.to)) {
      if (cursor <= branch.from) break;
      if (child.from >= cursor || child.to <= branch.from || child.to === child.from) continue;
      const childEnd = Math.min(child.to, cursor);
      if (childEnd < cursor) branch.critical.push([childEnd, cursor]);
      open.push([child, childEnd]);
      cursor = Math.max(child.from, branch.from);
    }
    if (cursor > branch.from) branch.critical.push([branch.from, cursor]);
  }
}
