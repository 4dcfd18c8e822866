// Ask a model of a table: any column fixed, ranged or free; what the others are then, live; and rows that fit.

import { post, enc } from './api.js';
import { h, show, table, attempt, complain } from './dom.js';
import { histogram } from './charts.js';
import { legend } from './beside.js';

/** Milliseconds after which an answer that has not come is told to be awaited. */
const SLOW = 250;

export function askTable(place, name, schema, given) {
  const columns = schema.columns.filter((column) => column.shape);
  const cards = new Map();
  const time = h('span', { class: 'soft', 'aria-live': 'polite' });
  let flight = null; let times = []; let slow = null;

  const laws = async () => {
    flight?.abort();
    const own = new AbortController();
    flight = own;
    place.setAttribute('aria-busy', 'true');
    clearTimeout(slow);
    slow = setTimeout(() => place.classList.add('slow'), SLOW);
    const begun = performance.now();
    try {
      const found = await post(`/models/${enc(name)}/laws`, { given: wishes(given) }, { signal: own.signal });
      for (const law of found.laws) cards.get(law.column)?.update(law);
      times = [...times.slice(-200), performance.now() - begun];
      time.textContent = [`answered in ${Math.round(times.at(-1))} ms`, ...found.notes].join(' · ');
      place.dispatchEvent(new CustomEvent('laws', { detail: times }));
      document.getElementById('problem').hidden = true;
    } catch (error) { complain(error); }
    if (flight !== own) return;
    clearTimeout(slow);
    place.classList.remove('slow');
    place.setAttribute('aria-busy', 'false');
  };
  const changed = () => { laws(); place.dispatchEvent(new CustomEvent('given')); };
  for (const column of columns) cards.set(column.name, card(column, given, changed));

  const count = h('input', { type: 'text', inputmode: 'numeric', value: '20', size: 6 });
  const seed = h('input', { type: 'text', inputmode: 'numeric', value: '0', size: 6 });
  const rows = h('div', {});
  const draw = h('button', { class: 'main', onclick: () => attempt(draw, async () => {
    const found = await post(`/models/${enc(name)}/sample`, { count: Number(count.value) || 0, seed: Number(seed.value) || 0, given: wishes(given) });
    show(rows, table(found.columns, found.rows));
    rows.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
  }) }, 'Draw rows');
  const free = h('button', { onclick: () => { given.clear(); cards.forEach((one) => one.reset()); changed(); } }, 'Free all');
  show(place, h('p', { class: 'soft' }, 'Fix columns and see what the others are then. Press a bar to fix a value, drag over bars for a range.'),
    h('div', { class: 'between' }, legend(), time), h('div', { class: 'cards' }, columns.map((column) => cards.get(column.name).element)),
    rows, h('div', { class: 'row stay' }, h('label', {}, 'Rows', count), h('label', {}, 'Seed', seed), draw, free));
  laws();
}

/** What is given, as the server takes it. */
export const wishes = (given) => Object.fromEntries([...given].map(([name, wish]) => [name, wish]));

function card(column, given, changed) {
  const [stats, control] = [h('div', { class: 'stats' }), h('div', { class: 'control' })];
  const real = column.shape;
  const isNumber = Boolean(real.edges);
  const modes = isNumber ? ['free', 'is', 'from–to'] : ['free', 'is', 'any of'];
  const buttons = modes.map((mode) => h('button', { 'aria-pressed': String(mode === 'free'), onclick: () => enter(mode) }, mode));
  const ends = (bin) => real.labels[bin].split(' – ');
  const picture = histogram({ data: real, label: `${column.name}: data and model`, pick: (from, to) => {
    if (isNumber) return from === to ? enter('is', ends(from)[0]) : enter('from–to', { from: ends(from)[0], to: ends(to).at(-1) });
    const names = column.levels.slice(from, to + 1);
    return names.length === 1 ? enter('is', names[0]) : enter('any of', names);
  } });
  const element = h('div', { class: 'card', 'data-column': column.name }, h('h3', {}, column.name), h('div', { class: 'modes', role: 'group', 'aria-label': `how ${column.name} is given` }, buttons), picture, control, stats);
  let law = null;

  const give = (wish) => { if (wish === undefined) given.delete(column.name); else given.set(column.name, wish); draw(); changed(); };
  const draw = () => {
    const wish = given.get(column.name);
    const fixed = wish !== undefined && (typeof wish !== 'object' || wish === null);
    element.classList.toggle('fixed', wish !== undefined);
    picture.paint(fixed ? at(real, wish) : law?.shape);
    stats.textContent = fixed || !law ? '' : law.quantiles?.length
      ? `median ${law.quantiles[2]}, 90 % ${law.quantiles[0]} to ${law.quantiles[4]}` : likeliest(law.shape);
  };
  const press = (mode) => buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(modes[i] === mode)));
  const enter = (mode, wish) => {
    press(mode);
    show(control);
    if (mode === 'free') return give(undefined);
    const [parts, chosen] = isNumber ? (mode === 'is' ? value(wish) : range(wish)) : levels(mode !== 'is', wish);
    show(control, parts);
    return give(chosen);
  };

  // Ends of bins as the column writes them: values of few are those themselves.
  const stops = [...new Set([...real.labels.map((label) => label.split(' – ')[0]), ends(real.labels.length - 1).at(-1)])];
  const value = (wish = stops[Math.floor(stops.length / 2)]) => {
    const text = h('input', { type: 'text', value: wish, 'aria-label': `${column.name} is`, onchange: () => give(text.value.trim()) });
    const slider = h('input', { type: 'range', min: 0, max: stops.length - 1, value: Math.max(0, stops.indexOf(wish)), 'aria-label': `${column.name}, by hand`, oninput: () => { text.value = stops[slider.value]; give(text.value); } });
    return [[text, slider], wish];
  };
  const range = (wish = { from: stops[Math.floor(stops.length / 4)], to: stops[Math.floor((3 * stops.length) / 4)] }) => {
    const part = (end, words) => h('input', { type: 'text', value: end, 'aria-label': `${column.name} ${words}`, onchange: () => give(both()) });
    const low = part(wish.from, 'from'); const high = part(wish.to, 'to');
    const both = () => ({ from: low.value.trim() || null, to: high.value.trim() || null });
    return [[low, h('span', { class: 'soft' }, 'to'), high], wish];
  };
  const levels = (several, wish) => {
    const names = column.levels.slice(0, 1000);
    const first = wish ?? (several ? [names[0]] : names[0]);
    const select = h('select', { multiple: several, size: several ? Math.min(4, names.length) : undefined, 'aria-label': `${column.name} is`, onchange: () => {
      const chosen = [...select.selectedOptions].map((option) => option.value);
      give(several ? (chosen.length ? chosen : undefined) : chosen[0]);
    } }, names.map((level) => h('option', { value: level, selected: several ? first.includes(level) : level === first }, level === '' ? '(empty)' : level)));
    return [[select], first];
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
