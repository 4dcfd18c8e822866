// Small pictures: histograms, curves, ways.

import { s, number } from './dom.js';

/**
 * Bars of a shape, beside those of another on the same bins: `data` grey behind, `law` coloured before. `paint(law)` of the picture
 * puts another law in its place: bars move, nothing is built anew. `pick(from, to)` hears of bins that are pressed or dragged over.
 */
export function histogram({ data, law, width = 240, height = 64, label, pick }) {
  const shape = data ?? law;
  const bins = shape.shares.length;
  const gap = bins > 30 ? 0.5 : 1.5;
  const step = width / bins;
  // The model's bars are narrower than the data's, so that both are seen. All bars of a kind are one path, which is quick to change.
  const bars = (shares, most, part) => {
    const wide = Math.max(part * (step - gap), 0.5);
    return shares.map((share, bin) => `M${(bin * step + (step - wide) / 2).toFixed(2)} ${height}v${(-height * share / most).toFixed(2)}h${wide.toFixed(2)}V${height}z`).join('');
  };
  const [behind, before] = [s('path', { class: 'data' }), s('path', { class: 'law' })];
  const hover = shape.labels.map((_, bin) => s('rect', { x: bin * step, width: step, y: 0, height, fill: 'transparent' }, s('title', {})));
  const last = bins > 1 ? shape.labels[bins - 1] : '';
  const ends = shape.edges ? [shape.labels[0].split(' – ')[0], last.split(' – ').at(-1)] : [shape.labels[0], last];
  const picture = s('svg', { class: pick ? 'chart bars pick' : 'chart bars', viewBox: `0 0 ${width} ${height + 16}`, role: 'img', 'aria-label': label ?? 'histogram' },
    behind, before, s('line', { class: 'axis', x1: 0, x2: width, y1: height, y2: height }),
    s('text', { x: 0, y: height + 12 }, short(ends[0])), s('text', { x: width, y: height + 12, 'text-anchor': 'end' }, short(ends[1])), hover);
  let shown = law;
  picture.paint = (next) => {
    shown = next;
    const most = Math.max(1e-9, ...(data?.shares ?? []), ...(shown?.shares ?? []));
    if (data) behind.setAttribute('d', bars(data.shares, most, 1));
    before.setAttribute('d', shown ? bars(shown.shares, most, data ? 0.5 : 1) : '');
  };
  picture.paint(law);
  picture.addEventListener('pointerover', ({ target }) => {
    const bin = hover.indexOf(target);
    if (bin >= 0) target.firstChild.textContent = `${shape.labels[bin]}: ${[data && `data ${percent(data.shares[bin])}`, shown && `model ${percent(shown.shares[bin])}`].filter(Boolean).join(', ')}`;
  });
  if (pick) drag(picture, bins, hover, pick);
  return picture;
}

/** Bins that are pressed, or dragged over from one to another. */
function drag(picture, bins, hover, pick) {
  let from = null;
  const at = (event) => {
    const box = picture.getBoundingClientRect();
    return Math.max(0, Math.min(bins - 1, Math.floor(((event.clientX - box.left) / box.width) * bins)));
  };
  const mark = (to) => hover.forEach((bar, bin) => bar.classList.toggle('over', to !== null && bin >= Math.min(from, to) && bin <= Math.max(from, to)));
  picture.addEventListener('pointerdown', (event) => { if (event.button === 0) { from = at(event); picture.setPointerCapture(event.pointerId); mark(from); } });
  picture.addEventListener('pointermove', (event) => { if (from !== null) mark(at(event)); });
  const stop = (event) => {
    if (from === null) return;
    const to = at(event);
    mark(null);
    if (event.type === 'pointerup') pick(Math.min(from, to), Math.max(from, to));
    from = null;
  };
  picture.addEventListener('pointerup', stop);
  picture.addEventListener('pointercancel', stop);
}

/** A share in words. */
export const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
/** The beginning of a text that is long. */
export const short = (text) => (text.length > 14 ? `${text.slice(0, 13)}…` : text);

/** Lines on common axes. `series`: [{points: [[x, y]], name, colour}]; x may be logarithmic. */
export function lines({ series, width = 640, height = 240, x = '', y = '', thin = false, xRange, yRange, logX = false, marks = [], label }) {
  const all = series.flatMap((one) => one.points).filter(([, b]) => Number.isFinite(b));
  const left = 46; const bottom = 30; const top = 8; const right = 8;
  const range = (values, given) => {
    if (given) return given;
    let low = Math.min(...values); let high = Math.max(...values);
    if (!Number.isFinite(low)) [low, high] = [0, 1];
    if (low === high) [low, high] = [low - 0.5, high + 0.5];
    return [low, high];
  };
  const scale = logX ? (v) => Math.log10(Math.max(v, 1e-12)) : (v) => v;
  const [x0, x1] = range(all.map(([a]) => a), xRange).map(scale);
  let [y0, y1] = range(all.map(([, b]) => b), yRange);
  if (!yRange) { const pad = 0.04 * (y1 - y0); y0 -= pad; y1 += pad; }
  const px = (v) => left + ((scale(v) - x0) / (x1 - x0 || 1)) * (width - left - right);
  const py = (v) => top + (1 - (v - y0) / (y1 - y0 || 1)) * (height - top - bottom);
  const path = (points) => {
    let pen = 'M'; let d = '';
    for (const [a, b] of points) {
      if (!Number.isFinite(b)) { pen = 'M'; continue; }
      d += `${pen}${px(a).toFixed(1)} ${py(b).toFixed(1)}`; pen = 'L';
    }
    return d;
  };
  const ticks = nice(y0, y1, 4).map((v) => [
    s('line', { class: 'gridline', x1: left, x2: width - right, y1: py(v), y2: py(v) }),
    s('text', { x: left - 6, y: py(v) + 4, 'text-anchor': 'end' }, number(v))]);
  const across = (logX ? powers(x0, x1) : nice(x0, x1, 5)).map((v) =>
    s('text', { x: px(logX ? 10 ** v : v), y: height - bottom + 15, 'text-anchor': 'middle' }, logX ? number(10 ** v) : number(v)));
  return s('svg', { class: 'chart clip', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label ?? y },
    ticks, across, s('line', { class: 'axis', x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    s('text', { x: width - right, y: height - 3, 'text-anchor': 'end' }, x),
    series.map((one) => s('path', { class: `${thin ? 'thin' : 'line'} s${one.colour ?? 0}`, d: path(one.points) })),
    marks.map((mark) => s('circle', { class: `f${mark.colour ?? 0}`, cx: px(mark.at[0]), cy: py(mark.at[1]), r: 3 })));
}

/** Round numbers of a range. */
function nice(low, high, count) {
  const raw = (high - low) / count;
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= raw);
  const found = [];
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) found.push(Math.abs(v) < step / 1e6 ? 0 : v);
  return found;
}

function powers(low, high) {
  const found = [];
  for (let k = Math.ceil(low); k <= Math.floor(high); k += 1) found.push(k);
  return found;
}
