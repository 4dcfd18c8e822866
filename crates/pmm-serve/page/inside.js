// See inside: posterior means on their way from the prior to a sample, stepped through by hand; and the method itself.

import { ask, get, enc } from './api.js';
import { h, s, show, number } from './dom.js';
import { lines } from './charts.js';

/** A slider over steps; `draw(step)` shows one. */
function stepper(steps, words, draw) {
  const told = h('output', { class: 'soft' });
  const slider = h('input', { type: 'range', min: 0, max: steps - 1, value: steps - 1, 'aria-label': words(steps - 1).split(':')[0], oninput: () => go(Number(slider.value)) });
  let timer = null;
  const go = (step) => { slider.value = step; told.textContent = words(step); draw(step); };
  const play = h('button', { onclick: () => {
    clearInterval(timer);
    let step = 0;
    timer = setInterval(() => { if (step >= steps || !slider.isConnected) { clearInterval(timer); return; } go(step); step += Math.max(1, Math.round(steps / 90)); if (step >= steps && step < steps + Math.round(steps / 90)) step = steps - 1 === Number(slider.value) ? steps : steps - 1; }, 60);
  } }, 'Play');
  go(steps - 1);
  return h('div', {}, h('div', { class: 'between' }, told, play), slider);
}

/** A model's samples in the making. */
export async function inside(place, name, info) {
  const picture = h('div', { class: 'cards inside' });
  if (info.kind === 'image') {
    const png = await (await ask(`/models/${enc(name)}/trace`)).blob();
    show(place, h('p', { class: 'soft' }, 'Images coming out of noise: above the posterior means, below what the network expects.'), h('img', { class: 'pixels', width: 640, alt: 'images coming out of noise', src: URL.createObjectURL(png) }));
    return;
  }
  if (info.kind === 'text') {
    const { frames } = await get(`/models/${enc(name)}/trace`);
    const text = h('pre', {});
    show(place, h('p', { class: 'soft' }, 'A text coming out of its masks.'), stepper(frames.length, (step) => `network calls: ${step + 1} of ${frames.length}`, (step) => { text.textContent = frames[step]; }), text);
    return;
  }
  const trace = await get(`/models/${enc(name)}/trace`);
  const steps = trace.columns[0].means[0].length;
  const legend = trace.told_by && h('div', { class: 'legend' }, h('span', {}, `${trace.told_by[0]}:`), trace.told_by[1].map((level, i) => h('span', {}, h('i', { class: `k${i}` }), level)));
  const ranges = trace.columns.map((column) => spread(column.means.flat()));
  const draw = (step) => show(picture, trace.columns.map((column, c) => h('div', { class: 'card' }, h('h3', {}, column.name), lines({
    series: column.means.map((means, row) => ({ points: means.slice(0, step + 1).map((mean, at) => [at, mean ?? NaN]), colour: trace.levels[row] })),
    marks: column.arrivals.map((at, row) => at && at[0] <= step && { at, colour: trace.levels[row] }).filter(Boolean),
    thin: true, width: 420, height: 220, xRange: [0, Math.max(1, steps - 1)], yRange: ranges[c], x: trace.reveals ? 'columns known' : 'network calls', label: `${column.name} on its way` }))));
  show(place, h('p', { class: 'soft' }, trace.reveals ? 'Rows in the making: columns become known one by one; a line is what is expected of the column by then, a dot its value.' : 'Rows in the making: all columns are watched through noise that fades; a line is the posterior mean.'),
    stepper(steps, (step) => `${trace.reveals ? 'columns known' : 'network calls'}: ${step}`, draw), legend, picture);
}

function spread(values) {
  const known = values.filter((value) => value !== null && Number.isFinite(value));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const pad = 0.05 * (high - low) || 1;
  return [low - pad, high + pad];
}

/** The four conjugate pairs at work where the answer is known, on one clock. */
export async function method(place) {
  show(place, h('h1', {}, 'The method'),
    h('p', {}, 'A conjugate Bayesian model watches data through noise; as information gathers, its posterior mean goes from the prior to the data. Run on observations drawn from an estimate of the data, the same inference makes new data. Here the estimate is exact, so what you see is the method itself.'));
  const pairs = await Promise.all(['normal', 'poisson', 'categorical', 'gamma'].map((pair) => get(`/method/${pair}`)));
  const grid = h('div', { class: 'cards pairs' });
  const steps = pairs[0].means.length;
  const reading = (step) => pairs[0].readings[Math.min(step, pairs[0].readings.length - 1)];
  const draw = (step) => show(grid, pairs.map((pair) => h('div', { class: 'card' }, h('h3', {}, pair.title), pair.axis === '' ? triangle(pair, step) : ways(pair, step), shares(pair))));
  show(place, ...place.children, stepper(steps, (step) => `information: ${number(Number(reading(step).toPrecision(3)))}`, draw), grid);
}

function ways(pair, step) {
  const rows = pair.ends.length;
  const range = spread([...pair.means.flat(), ...pair.points]);
  const series = pair.ends.map((end, row) => ({ colour: end, points: pair.means.slice(1, step + 1).map((means, at) => [pair.readings[at + 1], means[row * (means.length / rows)]]) }));
  return lines({ series, thin: true, logX: true, width: 420, height: 230, xRange: [pair.readings[1], pair.readings.at(-1)], yRange: range, x: 'information', label: `${pair.title}: posterior means` });
}

function triangle(pair, step) {
  const [width, height] = [420, 230];
  const size = 210;
  const at = (p) => [width / 2 + (p[1] - p[0]) * (size / 2) , height - 24 - p[2] * size * 0.866];
  const corner = (p, name, dy) => { const [x, y] = at(p); return s('text', { x, y: y + dy, 'text-anchor': 'middle' }, name); };
  const path = (points) => points.map((p, i) => `${i ? 'L' : 'M'}${at(p).map((v) => v.toFixed(1)).join(' ')}`).join('');
  const mean = (means, row) => means.slice(row * 3, row * 3 + 3);
  return s('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${pair.title}: posterior means` },
    s('path', { class: 'axis', fill: 'none', d: `${path([[1, 0, 0], [0, 1, 0], [0, 0, 1]])}Z` }),
    corner([1, 0, 0], 'A', 16), corner([0, 1, 0], 'B', 16), corner([0, 0, 1], 'C', -6),
    pair.ends.map((end, row) => s('path', { class: `thin s${end}`, d: path(pair.means.slice(0, step + 1).map((means) => mean(means, row))) })),
    [0, 1, 2].map((m) => { const [x, y] = at(pair.points.slice(3 * m, 3 * m + 3)); return s('circle', { class: `f${m}`, cx: x, cy: y, r: 4 }); }));
}

function shares(pair) {
  return h('div', { class: 'legend' }, pair.labels.map((label, m) => h('span', {}, h('i', { class: `k${m}` }), `${label}: ${Math.round(100 * pair.shares[m])} % of samples, ${Math.round(100 * pair.weights[m])} % in truth`)));
}
