// A fit as it goes: the losses, and samples beside the real thing.

import { get, post, enc } from './api.js';
import { h, show, attempt, sign } from './dom.js';
import { lines } from './charts.js';
import { beside } from './beside.js';

/** Milliseconds between looks at samples. */
const LOOK = 4000;

export async function watch(place, name) {
  const [title, bar, curve, notes, samples, buttons] = [h('span', { class: 'tag go' }), h('progress', { max: 1, value: 0, 'aria-label': 'steps' }), h('div', {}), h('div', { class: 'soft' }), h('div', {}), h('div', { class: 'row' })];
  const live = h('p', { class: 'soft', 'aria-live': 'polite' });
  show(place, h('div', { class: 'between' }, h('h1', {}, name), title), live, bar, buttons, curve, notes, samples);
  let status = await get(`/fits/${enc(name)}`);
  let source = null; let timer = null; let gone = false; let looking = false; let dirty = true;

  const draw = () => {
    title.textContent = status.state;
    title.className = sign(status.state);
    const { train, held_out: heldOut } = status.history;
    bar.value = status.state === 'finished' ? 1 : status.steps ? status.step / status.steps : 0;
    const last = heldOut.at(-1);
    live.textContent = status.state === 'failed' ? [status.problem?.detail, status.problem?.remedy].filter(Boolean).join(' – ')
      : status.step ? `step ${status.step}${status.steps ? ` of ${status.steps}` : ''}${last ? `, held-out loss ${last[1].toFixed(3)}` : ''}` : status.what;
    if (train.length + heldOut.length > 1) {
      show(curve, lines({ series: [{ points: train, colour: 0 }, { points: heldOut, colour: 1 }], x: 'step', width: Math.max(320, curve.clientWidth), height: 260, yRange: focus([...train, ...heldOut]), label: 'loss by step' }),
        h('div', { class: 'legend' }, h('span', {}, h('i', { class: 'k0' }), 'loss'), h('span', {}, h('i', { class: 'k1' }), 'on held-out data')));
    }
    show(notes, status.history.notes.map((note) => h('p', {}, note)));
    const running = ['queued', 'running'].includes(status.state);
    const act = (verb, words, kind) => {
      const button = h('button', { class: kind, onclick: () => attempt(button, async () => {
        status = await post(`/fits/${enc(name)}/${verb}`);
        if (verb === 'resume') listen();
        draw();
      }) }, words);
      return button;
    };
    show(buttons, running && act('stop', 'Stop'), ['stopped', 'failed'].includes(status.state) && act('resume', 'Go on'),
      (status.state === 'finished' || heldOut.length > 0) && h('a', { class: status.state === 'finished' ? 'button main' : 'button', href: `#/model/${enc(name)}` }, 'Ask it'));
  };

  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; if (!gone) draw(); });
  };

  const listen = () => {
    source?.close();
    source = new EventSource(`/v1/fits/${enc(name)}/events`);
    source.addEventListener('status', (event) => { status = JSON.parse(event.data); soon(); if (!['queued', 'running'].includes(status.state)) source.close(); });
    source.onmessage = (event) => {
      const told = JSON.parse(event.data);
      if (told.event === 'step') { [status.step, status.steps] = [told.step, told.steps]; push(status.history.train, [told.step, told.loss]); }
      if (told.event === 'validated') { push(status.history.held_out, [told.step, told.loss]); dirty = true; }
      if (told.event === 'started') status.what = told.what;
      if (told.event === 'note') status.history.notes.push(told.text);
      if (told.event === 'state') {
        [status.state, status.problem, dirty] = [told.state, told.problem, true];
        if (!['queued', 'running'].includes(told.state)) { source.close(); look(); }
      }
      soon();
    };
  };

  const preview = beside(samples, name);
  const look = async () => {
    if (looking || gone) return;
    looking = true;
    try { await preview(); } catch { /* There is nothing to see yet. */ }
    looking = false;
  };

  draw();
  listen();
  look();
  timer = setInterval(() => { if (dirty || status.state === 'running') { dirty = false; look(); } }, LOOK);
  return () => { gone = true; source?.close(); clearInterval(timer); };
}

function push(points, point) {
  while (points.length && points.at(-1)[0] >= point[0]) points.pop();
  points.push(point);
  if (points.length > 1200) points.splice(0, points.length, ...points.filter((_, i) => i % 2 === 0));
}

/** The first steps are steep: what comes later should be seen. */
function focus(points) {
  const values = points.map(([, y]) => y).sort((a, b) => a - b);
  const low = values[0]; const high = values[Math.floor(0.97 * (values.length - 1))];
  const pad = 0.08 * (high - low) || 0.5;
  return [low - pad, high + pad];
}
