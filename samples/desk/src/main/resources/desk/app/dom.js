// @ts-check
// Creates DOM elements. Values from traces become text nodes and are never parsed as markup.

const SVG = 'http://www.w3.org/2000/svg';

/** Creates an HTML element; `props` has attributes, `text`, `on` (listeners) and `style` (see
 * `setStyles`).
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props]
 * @param {...any} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, props, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** Creates an SVG element, with the same `props`.
 *
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props]
 * @param {...any} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, props, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

/**
 * @param {any} node
 * @param {Record<string, any> | undefined} props
 * @param {any[]} children
 */
function filled(node, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'text') node.textContent = value;
    else if (key === 'on') listen(node, value);
    else if (key === 'style') setStyles(node, value);
    else node.setAttribute(key, value === true ? '' : String(value));
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

function listen(node, listeners) {
  for (const [event, run] of Object.entries(listeners)) node.addEventListener(event, run);
}

/** Sets styles through the CSSOM, because the CSP forbids style attributes. */
export function setStyles(node, styles) {
  for (const [name, value] of Object.entries(styles)) node.style.setProperty(name, value);
}

/** Sets the text if it has changed. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Returns a share as a CSS percentage from 0 to 100 %. */
export function percentOf(part, whole) {
  const share = whole > 0 ? part / whole : 0;
  return `${Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)) * 100}%`;
}
