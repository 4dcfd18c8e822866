// Models and data: what there is, and where a file is dropped.

import { get, post, send, enc } from './api.js';
import { h, show, bytes, attempt, sign } from './dom.js';
import { zip } from './zip.js';

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
  return h('li', { class: 'card' }, h('div', { class: 'between' }, h('h3', {}, h('a', { href: `#/fit/${enc(fit.name)}` }, fit.name)), h('span', { class: sign(fit.state) }, fit.state)),
    h('div', { class: 'soft' }, bad ? fit.problem?.detail : fit.step > 0 ? `step ${fit.step}` : ''), (fit.state === 'stopped' || bad) && h('div', { class: 'row' }, resume));
}

function dropZone() {
  const input = h('input', { type: 'file', id: 'file', multiple: true, onchange: () => take([...input.files].map((file) => [file.name, file])) });
  const folder = h('input', { type: 'file', id: 'pictures', webkitdirectory: true, onchange: () => take([...folder.files].map((file) => [file.webkitRelativePath, file])) });
  const bar = h('progress', { max: 1, value: 0, hidden: true, 'aria-label': 'sent' });
  const zone = h('div', { class: 'drop',
    ondragover: (event) => { event.preventDefault(); zone.classList.add('over'); },
    ondragleave: () => zone.classList.remove('over'),
    ondrop: (event) => {
      event.preventDefault();
      zone.classList.remove('over');
      const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
      attempt(null, async () => take((await Promise.all(entries.map(files))).flat()));
    } },
    h('p', {}, h('strong', {}, 'Drop a file here')), h('p', { class: 'soft' }, 'a table, a text, a folder or zip of images, or a model'),
    h('label', { class: 'button main' }, 'Choose a file', input), ' ', h('label', { class: 'button' }, 'Choose a folder', folder), bar);
  const told = (share) => { bar.value = share; };
  const take = (found) => attempt(null, async () => {
    bar.hidden = false;
    try { if (found.length) await sent(found, told); } finally { bar.hidden = true; input.value = ''; folder.value = ''; }
  });
  return zone;
}

/** The files of what was dropped, with their paths. */
async function files(entry) {
  const path = entry.fullPath.slice(1);
  if (entry.isFile) return [[path, await new Promise((done, fail) => { entry.file(done, fail); })]];
  const reader = entry.createReader();
  const inside = [];
  for (;;) {
    const some = await new Promise((done, fail) => { reader.readEntries(done, fail); });
    if (!some.length) return (await Promise.all(inside.map(files))).flat();
    inside.push(...some);
  }
}

/** Sends a file, or several as one archive, and goes where it is looked at. */
async function sent(found, told) {
  const [path, file] = found[0];
  const alone = found.length === 1 && !path.includes('/');
  const model = alone && path.match(/^(.+?)(\.pmm)?\.tar\.gz$/);
  if (model) {
    await send(`/models/${enc(model[1])}`, file, told);
    location.hash = `#/model/${enc(model[1])}`;
    return;
  }
  const body = alone ? file : await zip(found, told);
  const name = alone ? path : `${path.includes('/') ? path.split('/')[0] : 'images'}.zip`;
  // Another file of this name keeps it: the new one gets a number.
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : name.replace(/^([^.]*)/, `$1-${number}`);
    try {
      await send(`/data/${enc(free)}`, body, told);
      location.hash = `#/data/${enc(free)}`;
      return;
    } catch (error) { if (error.status !== 409 || number === 20) throw error; }
  }
}
