// A model: what can be asked of it, part by part, and what can be taken away.

import { ask, get, save, enc } from './api.js';
import { h, show, attempt, bytes, number } from './dom.js';
import { askTable, wishes } from './ask_table.js';
import { checkTable } from './check_table.js';
import { askText } from './ask_text.js';
import { askImage } from './ask_image.js';
import { inside } from './inside.js';

/** Pieces of a download that are put together at a time. */
const FOLD = 256;
const FORMATS = { csv: 'text/csv', parquet: 'application/vnd.apache.parquet' };

export async function model(place, name) {
  const info = await get(`/models/${enc(name)}`);
  const schema = info.kind === 'table' ? await get(`/models/${enc(name)}/schema`) : null;
  const given = new Map();
  const parts = {
    Ask: (part) => (info.kind === 'table' ? askTable(part, name, schema, given) : info.kind === 'text' ? askText(part, name) : askImage(part, name, info)),
    ...(info.kind === 'table' ? { 'Your rows': (part) => checkTable(part, name, schema) } : {}),
    'See inside': (part) => inside(part, name, info),
    'Take away': (part) => takeAway(part, name, info, given),
  };
  const panels = new Map();
  const names = Object.keys(parts);
  const tabs = names.map((tab, i) => h('button', { role: 'tab', id: `tab-${i}`, 'aria-controls': `panel-${i}`, onclick: () => open(i), onkeydown: (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) { const next = (i + step + names.length) % names.length; open(next); tabs[next].focus(); }
  } }, tab));
  const body = h('div', {});
  const open = (at) => {
    tabs.forEach((tab, i) => { tab.setAttribute('aria-selected', String(i === at)); tab.tabIndex = i === at ? 0 : -1; });
    let panel = panels.get(at);
    // What is taken away depends on what was asked.
    if (!panel || names[at] === 'Take away') {
      panel = h('div', { role: 'tabpanel', id: `panel-${at}`, 'aria-labelledby': `tab-${at}` });
      panels.set(at, panel);
      attempt(null, async () => parts[names[at]](panel));
    }
    show(body, panel);
  };
  show(place, h('h1', {}, name), h('p', { class: 'soft' }, sentence(info, schema)), h('div', { class: 'tabs', role: 'tablist' }, tabs), body);
  open(0);
}

function sentence(info, schema) {
  const loss = info.fit.held_out_loss;
  return [schema ? `${schema.rows.toLocaleString('en')} rows, ${schema.columns.length} columns` : info.kind === 'image' ? `${info.shape[2]}×${info.shape[1]} images` : 'texts',
    `${info.weights.toLocaleString('en')} weights`, `${info.fit.steps.toLocaleString('en')} steps`, loss && `held-out loss ${number(Number(loss.toPrecision(4)))} ${info.loss_unit}`,
    info.fit.outcome === 'stopped' && 'stopped before its end'].filter(Boolean).join(' · ');
}

function takeAway(place, name, info, given) {
  const links = h('div', { class: 'row' }, h('a', { href: `/v1/models/${enc(name)}/archive`, download: '' }, `The model (${bytes(info.bytes - info.bytes_for_training)})`), h('a', { href: `/v1/models/${enc(name)}/card`, target: '_blank', rel: 'noopener' }, 'Its card'));
  ask(`/models/${enc(name)}/report`).then(() => links.append(h('a', { href: `/v1/models/${enc(name)}/report`, target: '_blank', rel: 'noopener' }, 'Its report'))).catch(() => links.append(h('span', { class: 'soft' }, `No report yet: pmm eval ${quoted(`${name}.pmm`)} TEST.csv makes one`)));
  show(place, info.kind === 'table' && rows(name, given), h('h2', {}, 'Files'), links, h('h2', {}, 'The same on a command line'), h('pre', {}, command(name, info.kind, given)), h('h2', {}, 'The same in Python'), h('pre', {}, python(name, info.kind, given)));
}

function rows(name, given) {
  const count = h('input', { type: 'text', inputmode: 'numeric', value: '1000', size: 9 });
  const seed = h('input', { type: 'text', inputmode: 'numeric', value: '0', size: 6 });
  const format = h('select', {}, Object.keys(FORMATS).map((one) => h('option', { value: one }, one === 'csv' ? 'CSV' : 'Parquet')));
  const bar = h('progress', { max: 1, value: 0, hidden: true, 'aria-label': 'rows that came' });
  const told = h('span', { class: 'soft', 'aria-live': 'polite' });
  const get = h('button', { class: 'main', onclick: () => attempt(get, async () => {
    const wanted = Number(count.value) || 0;
    const request = { count: wanted, seed: Number(seed.value) || 0, given: wishes(given) };
    const response = await ask(`/models/${enc(name)}/sample`, { method: 'POST', body: JSON.stringify(request), accept: FORMATS[format.value] });
    bar.hidden = false;
    const type = FORMATS[format.value];
    let whole = new Blob([], { type }); let chunks = []; let size = 0; let lines = 0;
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      size += value.length;
      // What a blob holds may be kept on the disk: rows need not fit into memory.
      if (chunks.length >= FOLD) { whole = new Blob([whole, ...chunks], { type }); chunks = []; }
      if (format.value === 'csv') { for (const byte of value) if (byte === 10) lines += 1; bar.value = lines / (wanted + 1); } else bar.removeAttribute('value');
      told.textContent = bytes(size);
    }
    bar.hidden = true;
    save(new Blob([whole, ...chunks], { type }), `${name}-new.${format.value}`);
  }) }, 'Download rows');
  const conditions = [...given].map(([column, wish]) => condition(column, wish)).join(', ');
  return [h('h2', {}, 'Rows'), conditions && h('p', { class: 'soft' }, `Given ${conditions}`), h('div', { class: 'row' }, h('label', {}, 'Rows', count), h('label', {}, 'Seed', seed), h('label', {}, 'Format', format), get, told), bar];
}

/** What is given, as the program takes it. */
function condition(column, wish) {
  if (Array.isArray(wish)) return `${column}=${wish.join('|')}`;
  if (wish && typeof wish === 'object') return `${column}=${wish.from ?? ''}..${wish.to ?? ''}`;
  return `${column}=${wish ?? ''}`;
}

const quoted = (text) => (/^[\w.,=|-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

function command(name, kind, given) {
  const folder = quoted(`${name}.pmm`);
  if (kind === 'text') return `pmm sample ${folder} --length 400 > new.txt\npmm infill ${folder} 'the [MASK] of'`;
  if (kind === 'image') return `pmm sample ${folder} -n 64 --out new.png`;
  const conditions = [...given].map(([column, wish]) => ` --given ${quoted(condition(column, wish))}`).join('');
  return `pmm sample ${folder} -n 1000${conditions} > new.csv`;
}

function python(name, kind, given) {
  const lines = ['import pmm', `m = pmm.load(${JSON.stringify(`${name}.pmm`)})`];
  const value = (wish) => {
    if (Array.isArray(wish)) return `[${wish.map((one) => JSON.stringify(one)).join(', ')}]`;
    if (wish && typeof wish === 'object') return `(${[wish.from, wish.to].map((end) => (end === null ? 'None' : plain(end))).join(', ')})`;
    return plain(wish);
  };
  const plain = (text) => (text !== '' && Number.isFinite(Number(text)) ? String(text) : JSON.stringify(text));
  const conditions = [...given].map(([column, wish]) => `${JSON.stringify(column)}: ${value(wish)}`).join(', ');
  lines.push(kind === 'table' ? `m.sample(1000${conditions ? `, given={${conditions}}` : ''})` : `m.sample(${kind === 'text' ? 1 : 64})`);
  return lines.join('\n');
}
