// What a model draws, beside the real thing: while it is fitted, and after.

import { ask, get, enc } from './api.js';
import { h, show } from './dom.js';
import { histogram } from './charts.js';
import { heat, largest } from './heat.js';

/** Milliseconds in which a text comes out of its masks. */
const PLAY = 2400;

/** A look at what a model draws by now, each time it is called. */
export function beside(place, name) {
  const looks = { table: tables(place, name), text: texts(place, name), image: images(place, name) };
  return async () => looks[(await get(`/models/${enc(name)}`)).kind]();
}

/** Columns, and the two that depend on each other most: of the data those stay the same. */
function tables(place, name) {
  let real;
  return async () => {
    real ??= await get(`/fits/${enc(name)}/pair`).catch(() => ({ columns: null }));
    const asked = real.columns ? `&first=${enc(real.columns[0])}&second=${enc(real.columns[1])}` : '';
    const { columns, joint } = await get(`/models/${enc(name)}/marginals?rows=1000${asked}`);
    const column = (one) => h('div', { class: 'card' }, h('h3', {}, one.column), histogram({ data: one.data, law: one.sample, label: `${one.column}: data and model` }));
    show(place, joint && pair(real, joint), h('h2', {}, 'New rows beside the data'), legend(), h('div', { class: 'cards' }, columns.map(column)));
  };
}

function pair(real, made) {
  const most = largest(real, made);
  const side = (title, joint, colour) => h('div', { class: 'card' }, h('h3', {}, title), heat({ joint, most, colour, label: `${joint.columns[0]} and ${joint.columns[1]}: ${title}` }));
  return [h('h2', {}, 'The two columns that depend on each other most'), h('div', { class: 'cards pair' }, side('data', real, 'f-data'), side('model', made, 'f0'))];
}

/** A text that comes out of its masks. */
function texts(place, name) {
  const text = h('pre', { 'data-part': 'unmasked' });
  return async () => {
    const { frames } = await get(`/models/${enc(name)}/trace`);
    show(place, h('h2', {}, 'What it writes by now'), text);
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const begun = performance.now();
    const step = (now) => {
      const share = still ? 1 : Math.min(1, (now - begun) / PLAY);
      text.textContent = frames[Math.max(0, Math.ceil(share * frames.length) - 1)] ?? '';
      if (share < 1 && text.isConnected) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  };
}

/** The grid that a fit of images leaves at every checkpoint. */
function images(place, name) {
  return async () => {
    const png = await (await ask(`/models/${enc(name)}/preview`)).blob();
    const image = h('img', { class: 'pixels', width: 320, alt: 'images drawn so far', src: URL.createObjectURL(png), onload: () => URL.revokeObjectURL(image.src) });
    show(place, h('h2', {}, 'What it draws by now'), image);
  };
}

/** What grey and blue are. */
export const legend = () => h('div', { class: 'legend' }, h('span', {}, h('i', { class: 'k-data' }), 'data'), h('span', {}, h('i', { class: 'k-law' }), 'model'));
