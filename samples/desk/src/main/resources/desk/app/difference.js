// @ts-check
// Describes the differences between two requests in sentences, most important first.

import { nameOf } from './anatomy.js';
import { partDifferences } from './diff.js';
import { foreign } from './foreign.js';
import { finite, many, ms, percent } from './format.js';
import { inWords } from './tracehead.js';

const WORTH_MS = 0.5;
const WORTH_SHARE = 0.02;
const WORTH_RATIO = 0.02;

/** Returns the sentences, each as a list of strings and elements. */
export function sentences(a, b, only) {
  const all = [
    ended(a.summary, b.summary), took(a.summary, b.summary), firstToken(a, b), decided(a, b), cached(a.summary, b.summary),
    tokens(a.summary, b.summary), spansOfOne('A', 'a', only.a), spansOfOne('B', 'b', only.b),
  ].filter(Boolean);
  return all.length > 0 ? all : [['No significant difference: both requests took the same path in about the same time.']];
}

function ended(a, b) {
  if (a.status === b.status && a.errorType === b.errorType) return undefined;
  const one = (letter, summary) => [`${letter} ended ${summary.status}`, ...(summary.errorType ? [' (', foreign(summary.errorType), ')'] : [])];
  return [...one('A', a), ', ', ...one('B', b), '.'];
}

function took(a, b) {
  const by = finite(b.durationMs) - finite(a.durationMs);
  if (Math.abs(by) < Math.max(WORTH_MS, WORTH_SHARE * finite(a.durationMs))) return undefined;
  return [`B took ${ms(Math.abs(by))} ${by > 0 ? 'longer' : 'less'}: ${ms(b.durationMs)} against ${ms(a.durationMs)}.`];
}

function firstToken(a, b) {
  if (!Number.isFinite(a.summary.ttftMs) || !Number.isFinite(b.summary.ttftMs)) {
    return a.summary.ttftMs === b.summary.ttftMs ? undefined : [`Only ${Number.isFinite(a.summary.ttftMs) ? 'A' : 'B'} has a first token.`];
  }
  const by = b.summary.ttftMs - a.summary.ttftMs;
  if (Math.abs(by) < WORTH_MS) return undefined;
  const along = partDifferences(a.anatomy, b.anatomy).filter((part) => part.by * by > 0).sort((x, y) => Math.abs(y.by) - Math.abs(x.by))[0];
  const most = along ? `; ${nameOf(along)} alone was ${ms(Math.abs(along.by))} ${by > 0 ? 'longer' : 'shorter'}` : '';
  return [`The first token of B came ${ms(Math.abs(by))} ${by > 0 ? 'later' : 'earlier'}${most}.`];
}

function decided(a, b) {
  const one = a.pd?.decision ?? a.summary.route;
  const two = b.pd?.decision ?? b.summary.route;
  if (one === two) return undefined;
  const described = (decision, data) => (decision ? [foreign(inWords(decision)), ...(data.summary.reason ? [' (', foreign(inWords(data.summary.reason)), ')'] : [])] : ['no decision']);
  return ['A was routed ', ...described(one, a), ', B ', ...described(two, b), '.'];
}

function cached(a, b) {
  if (!Number.isFinite(a.kvHitRatio) || !Number.isFinite(b.kvHitRatio) || Math.abs(a.kvHitRatio - b.kvHitRatio) < WORTH_RATIO) return undefined;
  return [`The KV cache held ${percent(a.kvHitRatio)} of A's prompt and ${percent(b.kvHitRatio)} of B's.`];
}

function tokens(a, b) {
  if (!(a.tokens >= 0) || !(b.tokens >= 0) || a.tokens === b.tokens) return undefined;
  return [`A generated ${many(a.tokens, 'token')}, B ${many(b.tokens, 'token')}.`];
}

function spansOfOne(letter, side, rows) {
  if (rows.length === 0) return undefined;
  const longest = rows.toSorted((x, y) => finite(y[side].tookMs) - finite(x[side].tookMs))[0];
  const more = rows.length > 1 ? ` and ${many(rows.length - 1, 'more span')}` : '';
  return [`Only ${letter} has `, foreign(longest[side].name), ` (${ms(longest[side].tookMs)})${more}.`];
}
