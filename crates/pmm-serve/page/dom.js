// Elements, without markup in texts: whatever a file is called, it is shown as text.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key in element && !(element instanceof SVGElement) && typeof value !== 'string') element[key] = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** An element of the page. */
export const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);

/** An element of a picture. */
export const s = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** Puts children in place of those that are there. */
export function show(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return element;
}

/** A table of rows; `mark(row, column)` gives the class of a cell. */
export function table(columns, rows, mark) {
  const numeric = columns.map((_, c) => rows.length > 0 && rows.every((row) => row[c] === null || Number.isFinite(Number(row[c]))) && rows.some((row) => row[c] !== null && row[c] !== ''));
  const cell = (value) => (value === null || value === undefined ? '' : typeof value === 'number' ? number(value) : String(value));
  return h('div', { class: 'wide high', tabindex: '0' }, h('table', {},
    h('thead', {}, h('tr', {}, columns.map((name, c) => h('th', { scope: 'col', class: numeric[c] && 'number' }, name)))),
    h('tbody', {}, rows.map((row, r) => h('tr', {}, row.map((value, c) =>
      h('td', { class: [numeric[c] && 'number', mark?.(r, c)].filter(Boolean).join(' ') || undefined }, cell(value))))))));
}

/** A number as short as it can be without misleading. */
export function number(value) {
  if (!Number.isFinite(value)) return '–';
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-4 ? value.toExponential(3) : String(Number(value.toPrecision(6)));
}

/** Bytes in words. */
export function bytes(count) {
  if (count === null || count === undefined) return '';
  const units = ['B', 'kB', 'MB', 'GB'];
  let unit = 0;
  while (count >= 1000 && unit < 3) { count /= 1000; unit += 1; }
  return `${count.toFixed(count < 10 && unit > 0 ? 1 : 0)} ${units[unit]}`;
}

/** How a fit is, as a small sign. */
export const sign = (state) => `tag ${{ failed: 'bad', stopped: '' }[state] ?? 'go'}`;

/** Shows what went wrong, and what to do. */
export function complain(error) {
  if (error?.name === 'AbortError') return;
  const box = document.getElementById('problem');
  const words = [error.detail ?? error.message ?? String(error), error.remedy && `Hint: ${error.remedy}.`].filter(Boolean);
  show(box, ...words.map((text) => h('p', {}, text)), h('button', { onclick: () => { box.hidden = true; }, 'aria-label': 'Close' }, '×'));
  box.hidden = false;
}

/** Runs something, and shows what goes wrong; a button cannot be pressed meanwhile. */
export async function attempt(button, work) {
  document.getElementById('problem').hidden = true;
  if (button) button.disabled = true;
  try { return await work(); } catch (error) { complain(error); } finally { if (button) button.disabled = false; }
}
