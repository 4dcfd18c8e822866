// See inside: posterior means on their way from the prior to a sample, stepped through by hand.

import { get, enc } from './api.js';
import { h, show, number } from './dom.js';
import { lines } from './charts.js';
import { stepper, spread } from './stepper.js';

/** A model's samples in the making. */
export async function inside(place, name, info) {
  const trace = await get(`/models/${enc(name)}/trace`);
  await { table: insideTable, text: insideText, image: insideImage }[info.kind](place, trace);
}

/** Lines of what is expected of each row. */
function insideTable(place, trace) {
  const picture = h('div', { class: 'cards inside' });
  const steps = trace.columns[0].means[0].length;
  const legend = trace.told_by && h('div', { class: 'legend' }, h('span', {}, `${trace.told_by[0]}:`), trace.told_by[1].map((level, i) => h('span', {}, h('i', { class: `k${i}` }), level)));
  const ranges = trace.columns.map((column) => spread(column.means.flat()));
  const unit = trace.reveals ? 'columns known' : 'network calls';
  const draw = (step) => show(picture, trace.columns.map((column, c) => h('div', { class: 'card' }, h('h3', {}, column.name), lines({
    series: column.means.map((means, row) => ({ points: means.slice(0, step + 1).map((mean, at) => [at, mean ?? NaN]), colour: trace.levels[row] })),
    marks: column.arrivals.map((at, row) => at && at[0] <= step && { at, colour: trace.levels[row] }).filter(Boolean),
    thin: true, width: 420, height: 220, xRange: [0, Math.max(1, steps - 1)], yRange: ranges[c], x: unit, label: `${column.name} on its way` }))));
  show(place, h('p', { class: 'soft' }, trace.reveals ? 'Columns become known one by one: a line is what is expected of a row by then, a dot its value.' : 'All columns are watched through noise that fades; a line is a posterior mean.'),
    stepper(steps, (step) => `${unit}: ${step}`, draw), legend, picture);
}

/** A text; what the last call has revealed is marked, where a token is a sign. */
function insideText(place, { frames, known, tokens }) {
  const text = h('pre', { 'data-part': 'unmasked' });
  const draw = (step) => {
    const [now, before] = [[...frames[step]], [...(frames[step - 1] ?? '')]];
    const isNew = (at) => now.length === before.length && now[at] !== before[at];
    show(text, now.map((sign, at) => (isNew(at) ? h('mark', {}, sign) : document.createTextNode(sign))));
  };
  show(place, h('p', { class: 'soft' }, 'A text coming out of its masks.'), stepper(frames.length, (step) => `tokens known: ${known[step]} of ${tokens}`, draw), text);
}

/** Images: above the posterior means, below what the network expects. */
async function insideImage(place, { columns, readings, pngs }) {
  const images = await Promise.all(pngs.map(async (png) => {
    const image = h('img', { src: `data:image/png;base64,${png}` });
    await image.decode();
    return image;
  }));
  const [width, height] = [images[0].naturalWidth / columns, images[0].naturalHeight / 2];
  const rows = ['Posterior means', 'What the network expects'].map((words) => [words, Array.from({ length: columns }, () => h('canvas', { class: 'pixels', width, height }))]);
  const draw = (step) => rows.forEach(([, row], r) => row.forEach((canvas, c) => canvas.getContext('2d').drawImage(images[step], c * width, r * height, width, height, 0, 0, width, height)));
  show(place, h('p', { class: 'soft' }, 'Images coming out of noise.'), stepper(images.length, (step) => `information: ${number(Number((readings[step] ?? Infinity).toPrecision(3)))}`, draw),
    rows.map(([words, row]) => [h('h3', { class: 'over' }, words), h('div', { class: 'strip', role: 'img', 'aria-label': words }, row)]));
}
