// Models and data: what there is, and where a file is dropped.

import { get, post, send, enc } from './api.js';
import { h, show, bytes, attempt } from './dom.js';

const KINDS = { table: 'table', text: 'text', image: 'images' };

export async function home(place) {
  const [models, data, fits] = await Promise.all([get('/models'), get('/data'), get('/fits')]);
  const open = fits.filter((fit) => fit.state !== 'finished');
  show(place, h('h1', {}, 'Models of your data'), dropZone(),
    open.length > 0 && [h('h2', {}, 'Fits'), h('ul', { class: 'cards' }, open.map(fitCard))],
    h('h2', {}, 'Models'),
    models.length ? h('ul', { class: 'cards' }, models.filter((one) => one.ready).map((one) => h('li', {}, h('a', { class: 'card', href: `#/model/${enc(one.name)}` },
      h('div', { class: 'between' }, h('h3', {}, one.name), h('span', { class: 'tag' }, KINDS[one.kind])))))) : h('p', { class: 'soft' }, 'None yet.'),
    h('h2', {}, 'Data'),
    data.length ? h('ul', { class: 'cards' }, data.map((one) => h('li', {}, h('a', { class: 'card', href: `#/data/${enc(one.name)}` },
      h('div', { class: 'between' }, h('h3', {}, one.name), h('span', { class: 'tag' }, KINDS[one.kind])), h('div', { class: 'soft' }, bytes(one.bytes)))))) : h('p', { class: 'soft' }, 'None yet.'));
}

function fitCard(fit) {
  const resume = h('button', { onclick: () => attempt(resume, async () => {
    await post(`/fits/${enc(fit.name)}/resume`);
    location.hash = `#/fit/${enc(fit.name)}`;
  }) }, 'Go on');
  const bad = fit.state === 'failed';
  return h('li', { class: 'card' }, h('div', { class: 'between' }, h('h3', {}, h('a', { href: `#/fit/${enc(fit.name)}` }, fit.name)), h('span', { class: `tag ${bad ? 'bad' : 'go'}` }, fit.state)),
    h('div', { class: 'soft' }, bad ? fit.problem?.detail : fit.step > 0 ? `step ${fit.step}` : ''), (fit.state === 'stopped' || bad) && h('div', { class: 'row' }, resume));
}

function dropZone() {
  const input = h('input', { type: 'file', id: 'file', 'aria-label': 'A file to learn from', onchange: () => take(input.files[0]) });
  const bar = h('progress', { max: 1, value: 0, hidden: true, 'aria-label': 'sent' });
  const zone = h('div', { class: 'drop',
    ondragover: (event) => { event.preventDefault(); zone.classList.add('over'); },
    ondragleave: () => zone.classList.remove('over'),
    ondrop: (event) => { event.preventDefault(); zone.classList.remove('over'); take(event.dataTransfer.files[0]); } },
    h('p', {}, h('strong', {}, 'Drop a file here'), ': a table (CSV, Parquet), a text, images (NPZ, IDX), or a model (.pmm.tar.gz)'), input, bar);
  const take = (file) => file && attempt(null, async () => {
    bar.hidden = false;
    try {
      const model = file.name.match(/^(.+?)(\.pmm)?\.tar\.gz$/);
      if (model) {
        await send(`/models/${enc(model[1])}`, file, (share) => { bar.value = share; });
        location.hash = `#/model/${enc(model[1])}`;
      } else {
        await send(`/data/${enc(file.name)}`, file, (share) => { bar.value = share; });
        location.hash = `#/data/${enc(file.name)}`;
      }
    } finally { bar.hidden = true; input.value = ''; }
  });
  return zone;
}
