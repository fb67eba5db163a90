// @ts-check
// Parses and builds the addresses of views, which follow the #. Ids are validated.

const TRACE = /^[0-9a-f]{32}$/;
const SPAN = /^[0-9a-f]{16}$/;

/** Returns the view and the parameters of an address. */
export function parse(hash) {
  const [path, query = ''] = hash.replace(/^#/, '').split('?');
  const parts = path.split('/').filter(Boolean);
  if (parts.length === 0) return { view: 'list', filter: Object.fromEntries(new URLSearchParams(query)) };
  if (parts[0] === 'history' && parts.length === 1) return { view: 'history', filter: Object.fromEntries(new URLSearchParams(query)) };
  if (parts[0] === 'latency' && parts.length === 1) return { view: 'latency', filter: Object.fromEntries(new URLSearchParams(query)) };
  if (parts[0] === 'trace' && isTrace(parts[1])) return { view: 'trace', traceId: parts[1], spanId: isSpan(parts[2]) ? parts[2] : undefined };
  if (parts[0] === 'compare' && isTrace(parts[1]) && isTrace(parts[2])) return { view: 'compare', a: parts[1], b: parts[2] };
  return { view: 'unknown' };
}

export function isTrace(id) {
  return typeof id === 'string' && TRACE.test(id);
}

export function isSpan(id) {
  return typeof id === 'string' && SPAN.test(id);
}

export function listHref(filter = {}) {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined && value !== '');
  return set.length === 0 ? '#/' : `#/?${new URLSearchParams(set)}`;
}

export function traceHref(traceId, spanId) {
  return isSpan(spanId) ? `#/trace/${traceId}/${spanId}` : `#/trace/${traceId}`;
}

export function latencyHref(by, minutes) {
  return `#/latency?${new URLSearchParams({ by, minutes })}`;
}

export function historyHref(minutes, pod) {
  return `#/history?${new URLSearchParams(pod ? { minutes, pod } : { minutes })}`;
}

export function compareHref(a, b) {
  return `#/compare/${a}/${b}`;
}

/** Changes the address without a new entry in the browser's history, for example when the selection
 * moves.
 */
export function restate(href) {
  if (location.hash !== href) history.replaceState(history.state, '', href);
}
