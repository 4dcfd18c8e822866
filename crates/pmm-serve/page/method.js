// The method: the four conjugate pairs at work where the answer is known.

import { get } from './api.js';
import { h, s, show, number } from './dom.js';
import { lines } from './charts.js';
import { stepper, spread } from './stepper.js';

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
