// Ask a model of texts: a text as it is made, and marked words rewritten.

import { ask, post, enc } from './api.js';
import { h, show, attempt } from './dom.js';

export function askText(place, name) {
  const beginning = h('input', { type: 'text', size: 30, placeholder: 'none' });
  const tokens = h('input', { type: 'text', inputmode: 'numeric', size: 6, placeholder: 'a window' });
  const seed = h('input', { type: 'text', inputmode: 'numeric', size: 6, value: '0' });
  const out = h('pre', { 'aria-live': 'polite', 'data-part': 'written' });
  const write = h('button', { class: 'main', onclick: () => attempt(write, async () => {
    out.textContent = '';
    const request = { count: 1, seed: Number(seed.value) || 0, beginning: beginning.value };
    if (tokens.value.trim()) request.tokens = Number(tokens.value);
    const response = await ask(`/models/${enc(name)}/sample`, { method: 'POST', body: JSON.stringify(request), accept: 'text/plain' });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      out.append(value);
    }
    seed.value = String((Number(seed.value) || 0) + 1);
  }) }, 'Write');

  const text = h('textarea', { 'aria-label': 'a text; mark the words to rewrite' });
  const count = h('input', { type: 'text', inputmode: 'numeric', size: 4, value: '3' });
  const found = h('div', { 'aria-live': 'polite', 'data-part': 'completions' });
  const rewrite = h('button', { class: 'main', onclick: () => attempt(rewrite, async () => {
    const [from, to] = [text.selectionStart, text.selectionEnd];
    const gapped = from < to ? `${text.value.slice(0, from)}[MASK:${Math.max(1, to - from)}]${text.value.slice(to)}` : text.value;
    if (!/_{3,}|\[MASK/.test(gapped)) throw { detail: 'No word is marked', remedy: 'select words in the text, or write ____ for a gap' };
    const answer = await post(`/models/${enc(name)}/infill`, { text: gapped, count: Number(count.value) || 1 });
    show(found, answer.completions.map((one) => h('pre', {}, one.text)));
  }) }, 'Rewrite the marked words');
  const take = h('button', { onclick: () => { text.value = out.textContent.slice(0, 160); text.focus(); } }, 'Take what was written');
  show(place, h('div', { class: 'row' }, h('label', {}, 'Beginning', beginning), h('label', {}, 'Tokens', tokens), h('label', {}, 'Seed', seed), write), out,
    h('h2', {}, 'Rewrite'), h('p', { class: 'soft' }, 'Select words and press, or write ____ for a gap. All else stays as it is.'), text,
    h('div', { class: 'row' }, h('label', {}, 'Versions', count), rewrite, take), found);
}
