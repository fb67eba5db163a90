// @ts-check
// Formats numbers with units and non-breaking spaces. A value that is not a finite number becomes a
// dash.

const NONE = '–';

/** Formats milliseconds as a duration with three significant figures, in a suitable unit. */
export function ms(value) {
  if (!Number.isFinite(value)) return NONE;
  const size = Math.abs(value);
  if (size === 0) return '0\u00a0ms';
  if (size < 0.001) return `${three(value * 1e6)}\u00a0ns`;
  if (size < 1) return `${three(value * 1e3)}\u00a0µs`;
  if (size < 1000) return `${three(value)}\u00a0ms`;
  if (size < 120000) return `${three(value / 1000)}\u00a0s`;
  return `${three(value / 60000)}\u00a0min`;
}

/** Formats milliseconds with two decimals, for values whose sum is shown. */
export function exactMs(value) {
  return Number.isFinite(value) ? `${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}\u00a0ms` : NONE;
}

/** Formats a difference in milliseconds, with its sign. */
export function signedMs(value) {
  if (!Number.isFinite(value)) return NONE;
  return `${value > 0 ? '+' : value < 0 ? '−' : '±'}${ms(Math.abs(value))}`;
}

function three(value) {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en');
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

export function count(value) {
  return Number.isFinite(value) ? Math.round(value).toLocaleString('en') : NONE;
}

export function percent(ratio) {
  return Number.isFinite(ratio) ? `${(ratio * 100).toFixed(ratio > 0 && ratio < 0.1 ? 1 : 0)}\u00a0%` : NONE;
}

export function bytes(value) {
  if (!Number.isFinite(value)) return NONE;
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let step = 0;
  while (Math.abs(value) >= 1000 && step < units.length - 1) {
    value /= 1000;
    step++;
  }
  return `${step === 0 ? Math.round(value) : value.toFixed(value < 10 ? 1 : 0)}\u00a0${units[step]}`;
}

/** Formats the local time with milliseconds, because requests of a burst have the same second. */
export function clock(epochMs) {
  const when = dateOf(epochMs);
  if (!when) return NONE;
  const two = (n) => String(n).padStart(2, '0');
  return `${two(when.getHours())}:${two(when.getMinutes())}:${two(when.getSeconds())}.${String(when.getMilliseconds()).padStart(3, '0')}`;
}

export function day(epochMs) {
  const when = dateOf(epochMs);
  return when ? when.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' }) : NONE;
}

function dateOf(epochMs) {
  const when = new Date(epochMs);
  return Number.isFinite(when.getTime()) ? when : undefined;
}

/** Formats a number with its noun: "1 span", "2 spans". */
export function many(number, noun) {
  return `${count(number)} ${noun}${Math.round(number) === 1 ? '' : 's'}`;
}

/** Returns the value if it is a finite number, else the fallback. */
export function finite(value, fallback = 0) {
  return Number.isFinite(value) ? value : fallback;
}
