// Ask a model of images: new ones, by class; and a part of one brushed over and filled in.

import { post, enc } from './api.js';
import { h, show, attempt } from './dom.js';

export function askImage(place, name, info) {
  const shape = info.shape;
  const classes = info.classes ?? [];
  const kind = h('select', {}, h('option', { value: '' }, 'as in the data'), classes.map((one) => h('option', { value: one }, one)));
  const count = h('input', { type: 'text', inputmode: 'numeric', size: 4, value: '16' });
  const seed = h('input', { type: 'text', inputmode: 'numeric', size: 6, value: '0' });
  const grid = h('div', { class: 'images', 'data-part': 'drawn' });
  const edit = h('div', {});
  const draw = h('button', { class: 'main', onclick: () => attempt(draw, async () => {
    const request = { count: Number(count.value) || 1, seed: Number(seed.value) || 0 };
    if (kind.value) request.class = kind.value;
    const found = await post(`/models/${enc(name)}/sample`, request);
    show(grid, found.images.map((image, i) => h('button', { 'aria-label': `image ${i + 1}${found.classes[i] ? `, ${found.classes[i]}` : ''}: fill in a part`, onclick: () => brush(image) }, picture(image, shape, 84))));
    seed.value = String(request.seed + 1);
  }) }, 'Draw');
  show(place, h('div', { class: 'row' }, classes.length > 0 && h('label', {}, 'Class', kind), h('label', {}, 'Images', count), h('label', {}, 'Seed', seed), draw), grid,
    h('p', { class: 'soft' }, 'Press an image to brush over a part and have it filled in.'), edit);

  function brush(image) {
    const [, height, width] = shape;
    const unknown = new Array(height * width).fill(false);
    const zoom = Math.max(4, Math.floor(280 / width));
    const canvas = h('canvas', { class: 'pixels brush', width: width * zoom, height: height * zoom, tabindex: '0', 'aria-label': 'brush over what is to be filled in' });
    const pen = canvas.getContext('2d');
    const small = picture(image, shape);
    const paint = () => {
      pen.imageSmoothingEnabled = false;
      pen.drawImage(small, 0, 0, canvas.width, canvas.height);
      pen.fillStyle = '#DB4410CC';
      unknown.forEach((hole, i) => { if (hole) pen.fillRect((i % width) * zoom, Math.floor(i / width) * zoom, zoom, zoom); });
    };
    const stroke = (event) => {
      if (event.buttons === 0 && event.type === 'pointermove') return;
      const box = canvas.getBoundingClientRect();
      const [x, y] = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
      const radius = Math.max(1, width / 12);
      for (let r = 0; r < height; r += 1) for (let c = 0; c < width; c += 1) if (Math.hypot(c + 0.5 - x, r + 0.5 - y) <= radius) unknown[r * width + c] = true;
      paint();
    };
    canvas.addEventListener('pointerdown', (event) => { canvas.setPointerCapture(event.pointerId); stroke(event); });
    canvas.addEventListener('pointermove', stroke);
    const found = h('div', { class: 'images', 'data-part': 'filled' });
    const fill = h('button', { class: 'main', onclick: () => attempt(fill, async () => {
      const answer = await post(`/models/${enc(name)}/inpaint`, { image, unknown, count: 6, seed: Number(seed.value) || 0 });
      show(found, answer.images.map((one) => picture(one, shape, 84)));
    }) }, 'Fill in');
    const half = h('button', { onclick: () => { unknown.forEach((_, i) => { if (Math.floor(i / width) >= height / 2) unknown[i] = true; }); paint(); } }, 'Brush over the lower half');
    show(edit, canvas, h('div', { class: 'row' }, fill, half), found);
    paint();
    canvas.scrollIntoView({ block: 'nearest' });
  }
}

/** An image of bytes, channel by channel. */
function picture(bytes, [channels, height, width], side) {
  const canvas = h('canvas', { width, height });
  if (side) { canvas.style.width = `${side}px`; canvas.style.height = `${side}px`; }
  const pixels = new ImageData(width, height);
  for (let i = 0; i < height * width; i += 1) {
    for (let c = 0; c < 3; c += 1) pixels.data[4 * i + c] = bytes[(channels === 3 ? c : 0) * height * width + i];
    pixels.data[4 * i + 3] = 255;
  }
  canvas.getContext('2d').putImageData(pixels, 0, 0);
  return canvas;
}
