// A model: what can be asked of it, part by part, and what can be taken away.

import { ask, get, enc } from './api.js';
import { h, show, attempt, bytes, number } from './dom.js';
import { askTable } from './ask_table.js';
import { checkTable } from './check_table.js';
import { askText } from './ask_text.js';
import { askImage } from './ask_image.js';
import { download } from './download.js';
import { inside } from './inside.js';

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
  ask(`/models/${enc(name)}/report`).then(() => links.append(h('a', { href: `/v1/models/${enc(name)}/report`, target: '_blank', rel: 'noopener' }, 'Its report'))).catch(() => links.append(h('span', { class: 'soft' }, `No report yet: pmm eval ${quoted(`${name}.pmm`)} TEST makes one`)));
  const conditions = [...given].map(([column, wish]) => condition(column, wish)).join(', ');
  show(place, h('h2', {}, 'New data'), conditions && h('p', { class: 'soft' }, `Given ${conditions}`), download(name, info.kind, given), h('h2', {}, 'Files'), links, h('h2', {}, 'The same on a command line'), h('pre', {}, command(name, info.kind, given)), h('h2', {}, 'The same in Python'), h('pre', {}, python(name, info.kind, given)));
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
