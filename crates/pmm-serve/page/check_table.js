// Rows of one's own: gaps filled, a column predicted, what looks wrong.

import { get, enc } from './api.js';
import { h, show, table, attempt } from './dom.js';

export function checkTable(place, name, schema) {
  const text = h('textarea', { 'aria-label': 'rows as CSV, with a header', placeholder: `${schema.columns.map((column) => column.name).join(',')}\n…` });
  const target = h('select', {}, schema.columns.filter((column) => column.shape).map((column) => h('option', { selected: column.name === schema.target }, column.name)));
  const out = h('div', { 'aria-live': 'polite' });
  const asked = (verb, query = '') => get(`/models/${enc(name)}/${verb}${query}`, { method: 'POST', body: text.value, type: 'text/csv' });

  const impute = act('Fill the gaps', async () => {
    const found = await asked('impute');
    const before = parse(text.value).slice(1);
    const isNew = (r, c) => before[r] && (before[r][c] ?? '').trim() === '' && 'new';
    show(out, table(found.columns, found.rows, isNew));
  });
  const score = act('What looks wrong', async () => {
    const found = await asked('score', '?cells=true&empty=unknown');
    const cells = found.columns.map((column, c) => [column, c]).filter(([column]) => column.startsWith('surprise: '));
    const at = Object.fromEntries(found.columns.map((column, c) => [column, c]));
    const [header, ...lines] = parse(text.value);
    const rows = found.rows.map((scores, r) => {
      const worst = cells.map(([column, c]) => [column.slice('surprise: '.length), scores[c] ?? -Infinity]).sort((a, b) => b[1] - a[1])[0];
      return { line: lines[r] ?? [], surprise: scores[at.surprise], broken: scores[at.broken_rules], worst: worst?.[0] };
    }).sort((a, b) => b.surprise - a.surprise);
    const broken = rows.some((row) => row.broken);
    const view = rows.map((row) => [Number(row.surprise.toFixed(1)), ...header.map((_, c) => row.line[c] ?? ''), ...(broken ? [row.broken] : [])]);
    const hot = (r, c) => header[c - 1]?.trim() === rows[r].worst && rows[r].surprise >= 5 && 'hot';
    show(out, h('p', { class: 'soft' }, 'The most surprising first, in nats; the cell that surprises most is marked.'), table(['surprise', ...header, ...(broken ? ['rules broken'] : [])], view, hot));
  });
  const predict = act('Predict', async () => {
    const found = await asked('predict', `?target=${enc(target.value)}&empty=unknown`);
    const [header, ...lines] = parse(text.value);
    const shown = header.map((name, c) => [name.trim(), c]).filter(([name]) => name !== target.value);
    // Shares are told in percent; what was given stands beside what is predicted.
    const told = found.columns.map((name, c) => (name.startsWith('p_') ? [name.slice(2), (row) => `${Math.round(1000 * row[c]) / 10} %`] : [name, (row) => row[c]]));
    const rows = found.rows.map((row, r) => [...told.map(([, of]) => of(row)), ...shown.map(([, c]) => lines[r]?.[c] ?? '')]);
    const law = (r, c) => (c < told.length ? (c === 0 ? 'new' : 'number') : 'soft');
    show(out, h('p', { class: 'soft' }, `What ${target.value} is in each row, given the rest of it.`), table([...told.map(([name]) => name), ...shown.map(([name]) => name)], rows, law));
  });
  const example = h('button', { onclick: () => attempt(example, async () => {
    const found = await get(`/models/${enc(name)}/sample`, { method: 'POST', body: JSON.stringify({ count: 8, seed: 1 }) });
    const quote = (cell) => (cell === null ? '' : /[",\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell));
    const rows = found.rows.map((row, r) => row.map((cell, c) => ((r * 3 + c) % 7 === 3 ? '' : quote(cell))).join(','));
    text.value = `${found.columns.map(quote).join(',')}\n${rows.join('\n')}\n`;
  }) }, 'An example');
  show(place, h('div', { class: 'between' }, h('p', { class: 'soft' }, 'Paste rows with a header; an empty cell is a gap.'), example), text,
    h('div', { class: 'row' }, impute, score, h('label', {}, 'Column', target), predict), out);

  function act(words, work) {
    const button = h('button', { class: 'main', onclick: () => attempt(button, async () => {
      if (!text.value.trim()) throw { detail: 'There are no rows', remedy: 'paste some, or take the example' };
      await work();
    }) }, words);
    return button;
  }
}

/** Lines and fields of CSV, with quotes; tabs and semicolons separate, too, if the header has them. */
export function parse(text) {
  const separator = [',', '\t', ';', '|'].map((sign) => [text.split('\n', 1)[0].split(sign).length, sign]).sort((a, b) => b[0] - a[0])[0][1];
  const rows = [[]]; let field = ''; let quoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const sign = text[i];
    if (quoted) {
      if (sign !== '"') field += sign;
      else if (text[i + 1] === '"') { field += '"'; i += 1; } else quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === separator) { rows.at(-1).push(field); field = ''; }
    else if (sign === '\n') { rows.at(-1).push(field); field = ''; rows.push([]); }
    else if (sign !== '\r') field += sign;
  }
  if (field !== '' || rows.at(-1).length) rows.at(-1).push(field);
  return rows.filter((row) => row.length > 1 || (row[0] ?? '') !== '');
}
