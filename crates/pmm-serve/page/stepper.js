// A slider over steps, which can also be played.

import { h } from './dom.js';

/** Milliseconds between steps, and steps that are shown, when it is played. */
const [PACE, SHOWN] = [60, 90];

/** A slider over steps; `words(step)` says what a step is, `draw(step)` shows it. */
export function stepper(steps, words, draw) {
  const told = h('output', { class: 'soft' });
  const slider = h('input', { type: 'range', min: 0, max: steps - 1, value: steps - 1, 'aria-label': words(steps - 1).split(':')[0], oninput: () => { clearInterval(timer); go(Number(slider.value)); } });
  let timer = null;
  const go = (step) => {
    slider.value = step;
    told.textContent = words(step);
    slider.setAttribute('aria-valuetext', told.textContent);
    draw(step);
  };
  const play = h('button', { onclick: () => {
    clearInterval(timer);
    const stride = Math.max(1, Math.round(steps / SHOWN));
    let step = 0;
    timer = setInterval(() => {
      if (step >= steps - 1 || !slider.isConnected) clearInterval(timer);
      go(Math.min(step, steps - 1));
      step += stride;
    }, PACE);
  } }, 'Play');
  go(steps - 1);
  return h('div', {}, h('div', { class: 'between' }, told, play), slider);
}

/** A range with some air about the values. */
export function spread(values) {
  const known = values.filter((value) => value !== null && Number.isFinite(value));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const pad = 0.05 * (high - low) || 1;
  return [low - pad, high + pad];
}
