// What was found in a file: column by column, with reasons; change what is wrong, and start.

import { get, post, enc } from './api.js';
import { h, show, attempt } from './dom.js';
import { histogram } from './charts.js';

const KINDS = ['real', 'count', 'positive', 'category', 'yes_no', 'date_time', 'identifier', 'text'];
const PAIRS = { real: ['normal'], count: ['poisson', 'normal', 'gamma'], positive: ['gamma', 'normal'], category: ['categorical'], yes_no: ['categorical'], date_time: ['normal'] };

export async function inspect(place, name) {
  const columns = {};
  const body = h('div', {}, h('p', { class: 'soft' }, 'Looking …'));
  show(place, h('h1', {}, name), body);
  const look = async () => {
    const found = await post(`/data/${enc(name)}/inspect`, { data: name, columns });
    show(body, h('p', {}, found.about), found.notes.map((note) => h('p', { class: 'soft' }, note)), starter(name, found, columns),
      found.kind === 'table' && columnTable(found, columns, look), rules(found.rules));
  };
  await look();
}

function starter(name, found, columns) {
  const stem = name.split('.').find(Boolean) ?? 'model';
  const model = h('input', { type: 'text', value: stem, size: 16 });
  const minutes = h('input', { type: 'text', inputmode: 'decimal', size: 6, placeholder: found.minutes < 1 ? 'under 1' : `about ${Math.ceil(found.minutes)}` });
  const target = h('select', {}, h('option', { value: '' }, 'none'), found.columns.filter((column) => column.pair !== 'none').map((column) => h('option', { value: column.name }, column.name)));
  const replace = h('input', { type: 'checkbox' });
  const replacing = h('label', { class: 'line', hidden: true }, replace, 'replace the model of this name');
  const taken = get('/models').then((models) => models.map((one) => one.name)).catch(() => []);
  const tell = async () => { replacing.hidden = !(await taken).includes(model.value.trim()); };
  model.addEventListener('input', tell);
  tell();
  const start = h('button', { class: 'main', onclick: () => attempt(start, async () => {
    const request = { data: name, model: model.value.trim() || stem, columns, replace: replace.checked && !replacing.hidden };
    if (minutes.value.trim()) request.minutes = Number(minutes.value.replace(',', '.'));
    if (target.value) request.target = target.value;
    const fit = await post('/fits', request);
    location.hash = `#/fit/${enc(fit.name)}`;
  }) }, 'Start');
  return h('div', { class: 'row' }, h('label', {}, 'Name of the model', model), h('label', {}, 'Minutes', minutes),
    found.kind === 'table' && h('label', {}, 'Target, if one matters most', target), replacing, start);
}

function columnTable(found, wishes, look) {
  const picker = (column, field, options, value) => {
    const select = h('select', { 'aria-label': `${field} of ${column.name}`, onchange: () => attempt(select, async () => {
      const before = wishes[column.name];
      wishes[column.name] = { ...(field === 'kind' ? {} : before), [field]: select.value };
      if (field === 'pair' && before?.kind) wishes[column.name].kind = before.kind;
      try { await look(); } catch (error) {
        if (before) wishes[column.name] = before; else delete wishes[column.name];
        select.value = value;
        throw error;
      }
    }) }, options.map((option) => h('option', { value: option, selected: option === value }, option.replace('_', '/'))));
    return select;
  };
  const row = (column) => h('tr', {}, h('th', { scope: 'row' }, column.name),
    h('td', {}, KINDS.includes(column.kind) ? picker(column, 'kind', KINDS, column.kind) : column.kind),
    h('td', {}, PAIRS[column.kind] ? picker(column, 'pair', [...PAIRS[column.kind], 'none'], column.pair) : '–'),
    h('td', { class: 'number missing' }, column.missing || ''),
    h('td', { class: 'spread' }, column.shape && histogram({ data: column.shape, width: 150, height: 34, label: `how ${column.name} is spread` })),
    h('td', { class: 'soft why' }, column.reason));
  return h('div', { class: 'wide', tabindex: '0' }, h('table', { class: 'columns' }, h('thead', {}, h('tr', {}, ['column', 'kind', 'pair', 'missing', 'spread', 'why'].map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, found.columns.map(row))));
}

function rules(found) {
  return found.length > 0 && [h('h2', {}, 'Rules that hold, and that new rows keep'), h('ul', { class: 'soft' }, found.map((rule) => h('li', {}, rule)))];
}
