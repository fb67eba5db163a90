// @ts-check
// Calls the desk's API.

const TIMEOUT_MS = 15000;

/** A failed call, with a message for the page; `kind` is `gone` (the server does not respond),
 * `unknown` (not found) or `refused`.
 */
export class ApiError extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

export function requests(filter, signal) {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined && value !== '');
  return ask(`/api/requests?${new URLSearchParams(set)}`, signal);
}

export function trace(traceId, signal) {
  return ask(`/api/traces/${encodeURIComponent(traceId)}`, signal);
}

export function latency(by, since, signal) {
  return ask(`/api/latency?${new URLSearchParams({ by, since })}`, signal);
}

export function history(since, pod, limit, signal) {
  return ask(`/api/history?${new URLSearchParams({ since, pod, limit })}`, signal);
}

async function ask(path, signal) {
  const response = await answer(path, signal);
  const body = await read(response, signal);
  if (response.ok) return body;
  const reason = typeof body.error === 'string' ? body.error : `The desk responded with status ${response.status}.`;
  throw new ApiError(response.status === 404 ? 'unknown' : 'refused', reason);
}

async function answer(path, signal) {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await fetch(path, { signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
  } catch (failure) {
    throw connectionFailure(failure, signal);
  }
}

// Returns the body as JSON, or an empty object if an error response has no readable body.
async function read(response, signal) {
  try {
    return await response.json();
  } catch (failure) {
    if (response.ok || signal?.aborted) throw connectionFailure(failure, signal);
    return {};
  }
}

function connectionFailure(failure, signal) {
  return signal?.aborted ? failure : new ApiError('gone', 'The desk does not answer.');
}
