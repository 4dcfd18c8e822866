// New data as a file: rows, a text or a picture of images, as they come.

import { ask, save, enc } from './api.js';
import { h, attempt, bytes } from './dom.js';
import { wishes } from './ask_table.js';

/** Pieces of a download that are put together at a time. */
const FOLD = 256;
/** What is counted, how many there are unless one says so, and the files that hold them. */
const KINDS = {
  table: { unit: 'Rows', count: 1000, files: { csv: ['CSV', 'text/csv'], parquet: ['Parquet', 'application/vnd.apache.parquet'] } },
  text: { unit: 'Tokens', count: 400, files: { txt: ['Text', 'text/plain'] } },
  image: { unit: 'Images', count: 64, files: { png: ['PNG', 'image/png'] } },
};

/** How much, from which seed, in which format; and the button. */
export function download(name, kind, given) {
  const { unit, count, files } = KINDS[kind];
  const wanted = h('input', { type: 'text', inputmode: 'numeric', value: String(count), size: 9 });
  const seed = h('input', { type: 'text', inputmode: 'numeric', value: '0', size: 6 });
  const format = h('select', {}, Object.entries(files).map(([ending, [words]]) => h('option', { value: ending }, words)));
  const bar = h('progress', { max: 1, value: 0, hidden: true, 'aria-label': 'what has come' });
  const told = h('span', { class: 'soft', 'aria-live': 'polite' });
  const get = h('button', { class: 'main', onclick: () => attempt(get, async () => {
    const [ending, amount] = [format.value, Number(wanted.value) || 0];
    const request = { seed: Number(seed.value) || 0, ...(kind === 'text' ? { count: 1, tokens: amount } : { count: amount }), ...(kind === 'table' ? { given: wishes(given) } : {}) };
    bar.hidden = false;
    bar.removeAttribute('value');
    try {
      const type = files[ending][1];
      const response = await ask(`/models/${enc(name)}/sample`, { method: 'POST', body: JSON.stringify(request), accept: type });
      const tell = ending === 'csv' ? linesOf(amount + 1, bar) : () => {};
      save(await gathered(response, type, (piece, size) => { tell(piece); told.textContent = bytes(size); }), `${name}-new.${ending}`);
    } finally { bar.hidden = true; }
  }) }, `Download ${unit === 'Tokens' ? 'a text' : unit.toLowerCase()}`);
  return [h('div', { class: 'row' }, h('label', {}, unit, wanted), h('label', {}, 'Seed', seed), Object.keys(files).length > 1 && h('label', {}, 'Format', format), get, told), bar];
}

/** Moves a bar by the lines that come. */
function linesOf(all, bar) {
  let lines = 0;
  return (piece) => { for (const byte of piece) if (byte === 10) lines += 1; bar.value = lines / all; };
}

/** The whole of an answer. What a blob holds may be kept on the disk: it need not fit into memory. */
async function gathered(response, type, told) {
  let whole = new Blob([], { type }); let pieces = []; let size = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob([whole, ...pieces], { type });
    pieces.push(value);
    size += value.length;
    if (pieces.length >= FOLD) { whole = new Blob([whole, ...pieces], { type }); pieces = []; }
    told(value, size);
  }
}
