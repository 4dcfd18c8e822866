// Ask a model of a table: any column fixed, ranged or free; what the others are then, live; and rows that fit.

import { post, enc } from './api.js';
import { h, show, table, attempt, complain } from './dom.js';
import { histogram } from './charts.js';
import { legend } from './watch.js';

export function askTable(place, name, schema, given) {
  const columns = schema.columns.filter((column) => column.shape);
  const cards = new Map();
  const time = h('span', { class: 'soft', 'aria-live': 'polite' });
  let flight = null; let times = [];

  const laws = async () => {
    flight?.abort();
    const own = new AbortController();
    flight = own;
    place.setAttribute('aria-busy', 'true');
    const begun = performance.now();
    try {
      const found = await post(`/models/${enc(name)}/laws`, { given: wishes(given) }, { signal: own.signal });
      for (const law of found.laws) cards.get(law.column)?.update(law);
      times = [...times.slice(-200), performance.now() - begun];
      time.textContent = [`${Math.round(times.at(-1))} ms`, ...found.notes].join(' · ');
      place.dispatchEvent(new CustomEvent('laws', { detail: times }));
      document.getElementById('problem').hidden = true;
    } catch (error) { complain(error); }
    if (flight === own) place.setAttribute('aria-busy', 'false');
  };
  const changed = () => { laws(); place.dispatchEvent(new CustomEvent('given')); };
  for (const column of columns) cards.set(column.name, card(column, given, changed));

  const count = h('input', { type: 'text', inputmode: 'numeric', value: '20', size: 6 });
  const seed = h('input', { type: 'text', inputmode: 'numeric', value: '0', size: 6 });
  const rows = h('div', {});
  const draw = h('button', { class: 'main', onclick: () => attempt(draw, async () => {
    const found = await post(`/models/${enc(name)}/sample`, { count: Number(count.value) || 0, seed: Number(seed.value) || 0, given: wishes(given) });
    show(rows, table(found.columns, found.rows));
  }) }, 'Draw rows');
  const free = h('button', { onclick: () => { given.clear(); cards.forEach((one) => one.reset()); changed(); } }, 'Let all go');
  show(place, h('div', { class: 'between' }, legend(), time), h('div', { class: 'cards' }, columns.map((column) => cards.get(column.name).element)),
    h('div', { class: 'row' }, h('label', {}, 'Rows', count), h('label', {}, 'Seed', seed), draw, free), rows);
  laws();
}

/** What is given, as the server takes it. */
export const wishes = (given) => Object.fromEntries([...given].map(([name, wish]) => [name, wish]));

function card(column, given, changed) {
  const [picture, stats, control] = [h('div', {}), h('div', { class: 'stats' }), h('div', { class: 'control' })];
  const isNumber = Boolean(column.shape.edges);
  const modes = isNumber ? ['free', 'is', 'from–to'] : ['free', 'is', 'any of'];
  const buttons = modes.map((mode) => h('button', { 'aria-pressed': String(mode === 'free'), onclick: () => enter(mode) }, mode));
  const element = h('div', { class: 'card', 'data-column': column.name }, h('h3', {}, column.name), h('div', { class: 'modes', role: 'group', 'aria-label': `how ${column.name} is given` }, buttons), control, picture, stats);
  const real = column.shape;
  let law = null;

  const give = (wish) => { if (wish === undefined) given.delete(column.name); else given.set(column.name, wish); draw(); changed(); };
  const draw = () => {
    const wish = given.get(column.name);
    const fixed = wish !== undefined && (typeof wish !== 'object' || wish === null);
    element.classList.toggle('fixed', wish !== undefined);
    show(picture, histogram({ data: real, law: fixed ? at(real, wish) : law?.shape, label: `${column.name}: data and model` }));
    stats.textContent = fixed || !law ? '' : law.quantiles?.length
      ? `median ${law.quantiles[2]}, 90 % ${law.quantiles[0]} to ${law.quantiles[4]}` : likeliest(law.shape);
  };
  const press = (mode) => buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(modes[i] === mode)));
  const enter = (mode) => {
    press(mode);
    show(control);
    if (mode === 'free') return give(undefined);
    const [parts, wish] = isNumber ? (mode === 'is' ? value() : range()) : levels(mode !== 'is');
    show(control, parts);
    return give(wish);
  };

  // Ends of bins as the column writes them: values of few are those themselves.
  const stops = [...new Set([...real.labels.map((label) => label.split(' – ')[0]), real.labels.at(-1).split(' – ').at(-1)])];
  const value = () => {
    const middle = Math.floor(stops.length / 2);
    const text = h('input', { type: 'text', value: stops[middle], 'aria-label': `${column.name} is`, onchange: () => give(text.value.trim()) });
    const slider = h('input', { type: 'range', min: 0, max: stops.length - 1, value: middle, 'aria-label': `${column.name}, by hand`, oninput: () => { text.value = stops[slider.value]; give(text.value); } });
    return [[text, slider], stops[middle]];
  };
  const range = () => {
    const part = (at, words) => h('input', { type: 'text', value: stops[at], 'aria-label': `${column.name} ${words}`, onchange: () => give(ends()) });
    const low = part(Math.floor(stops.length / 4), 'from'); const high = part(Math.floor((3 * stops.length) / 4), 'to');
    const ends = () => ({ from: low.value.trim() || null, to: high.value.trim() || null });
    return [[low, h('span', { class: 'soft' }, 'to'), high], ends()];
  };
  const levels = (several) => {
    const names = column.levels.slice(0, 1000);
    const select = h('select', { multiple: several, size: several ? Math.min(4, names.length) : undefined, 'aria-label': `${column.name} is`, onchange: () => {
      const chosen = [...select.selectedOptions].map((option) => option.value);
      give(several ? (chosen.length ? chosen : undefined) : chosen[0]);
    } }, names.map((level, i) => h('option', { value: level, selected: i === 0 }, level === '' ? '(empty)' : level)));
    return [[select], several ? [names[0]] : names[0]];
  };
  draw();
  return { element, update: (found) => { law = found; draw(); }, reset: () => { press('free'); show(control); draw(); } };
}

/** All at one value. */
function at(shape, value) {
  const inner = shape.edges?.slice(1, -1);
  const bin = inner ? inner.filter((edge) => edge < Number(value)).length : shape.labels.indexOf(value);
  if (inner && !Number.isFinite(Number(value))) return undefined;
  const most = Math.max(...shape.shares);
  return bin < 0 ? undefined : { ...shape, shares: shape.shares.map((_, i) => (i === bin ? most : 0)) };
}

function likeliest(shape) {
  const order = shape.shares.map((share, i) => [share, shape.labels[i]]).sort((a, b) => b[0] - a[0]).slice(0, 3);
  return order.filter(([share]) => share > 0.005).map(([share, label]) => `${label} ${Math.round(100 * share)} %`).join(', ');
}
