// Makes elements. Nothing here takes markup: whatever a trace says enters as text and can never become part of the page.

const SVG = 'http://www.w3.org/2000/svg';

/** An element; `props` holds attributes, and beside them `text`, `on` (listeners) and `style` (set one by one, as the CSP wants). */
export function el(tag, props, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same in SVG. */
export function svg(tag, props, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(node, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'text') node.textContent = value;
    else if (key === 'on') listen(node, value);
    else if (key === 'style') place(node, value);
    else node.setAttribute(key, value === true ? '' : String(value));
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

function listen(node, listeners) {
  for (const [event, run] of Object.entries(listeners)) node.addEventListener(event, run);
}

/** Sets styles through the CSSOM: a style attribute would need a hole in the CSP. */
export function place(node, styles) {
  for (const [name, value] of Object.entries(styles)) node.style.setProperty(name, value);
}

/** Writes text only where it changes, so that a live page does not touch what stands still. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A share as a CSS length, kept inside its frame whatever the trace claims. */
export function percentOf(part, whole) {
  const share = whole > 0 ? part / whole : 0;
  return `${Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)) * 100}%`;
}
