// @ts-check
// Shows untrusted text from traces, which may contain markup, long values and bidirectional
// controls.

import { el } from './dom.js';

const SHORT = 160;
const HOVER = 600;
const LONG = 400;

// Control characters, and characters that reorder or hide text. Joiners are allowed: emoji and many
// scripts need them.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u3164\ufeff\ufff9-\ufffb]/g;

/** Returns the text with invisible characters replaced by their codes, so that they cannot disguise it. */
export function plain(value) {
  return textOf(value).replace(UNSEEN, (c) => `⟨${c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** Truncates text to `max` characters, without splitting a surrogate pair. */
export function cut(text, max = SHORT) {
  if (text.length <= max) return text;
  const end = text.charCodeAt(max - 1) >= 0xd800 && text.charCodeAt(max - 1) <= 0xdbff ? max - 1 : max;
  return `${text.slice(0, end)}…`;
}

/** Creates an element with one line of untrusted text, which is isolated from the text direction
 * around it. A tooltip shows more of the text.
 */
export function foreign(value, className = '') {
  const node = el('bdi', { class: `foreign ${className}` });
  rewrite(node, value);
  return node;
}

/** Replaces the text of an element made by `foreign`. Truncates before cleaning: cleaning 10,000
 * characters per row would slow down scrolling.
 */
export function rewrite(node, value) {
  const text = textOf(value);
  const short = cut(plain(cut(text, SHORT)), SHORT);
  if (node.textContent !== short) node.textContent = short;
  if (text.length > 24) node.title = plain(cut(text, HOVER));
  else node.removeAttribute('title');
}

/** Creates an element with untrusted text. If it is long, it is truncated, and a button shows the rest. */
export function whole(value) {
  const text = plain(value);
  const node = el('bdi', { class: 'foreign whole', text: cut(text, LONG) });
  if (text.length <= LONG) return node;
  const button = el('button', { type: 'button', class: 'link-button', text: `Show all ${text.length.toLocaleString('en')} characters` });
  button.addEventListener('click', () => {
    node.textContent = text;
    button.remove();
  });
  return el('span', {}, node, ' ', button);
}

/** Returns an attribute value as text; lists and objects as JSON. */
export function textOf(value) {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
