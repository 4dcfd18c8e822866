// Two columns together: the darker a field, the more rows are in its pair of bins.

import { s } from './dom.js';
import { percent, short } from './charts.js';

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [360, 270, 20, 20, 20];

/** The fields of a joint shape; full colour is at the share `most`. `colour` is a class. */
export function heat({ joint, most, colour, label }) {
  const [across, up] = joint.labels;
  const [wide, high] = [(WIDTH - LEFT) / across.length, (HEIGHT - TOP - BOTTOM) / up.length];
  const field = (share, x, y) => share > 0 && s('rect', { class: colour, x: LEFT + x * wide, y: HEIGHT - BOTTOM - (y + 1) * high, width: wide, height: high, 'fill-opacity': Math.min(1, 0.06 + 0.94 * Math.sqrt(share / most)).toFixed(3) },
    s('title', {}, `${across[x]}, ${up[y]}: ${percent(share)}`));
  const [floor, middle] = [HEIGHT - BOTTOM, (LEFT + WIDTH) / 2];
  const upright = (y, text, anchor) => s('text', { x: 0, y: 0, transform: `translate(${LEFT - 6} ${y}) rotate(-90)`, 'text-anchor': anchor }, text);
  return s('svg', { class: 'chart', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label },
    joint.shares.map((line, y) => line.map((share, x) => field(share, x, y))),
    s('path', { class: 'axis', fill: 'none', d: `M${LEFT} ${TOP}V${floor}H${WIDTH}` }),
    s('text', { x: LEFT - 10, y: 12 }, `↑ ${joint.columns[1]}`),
    upright(floor, short(first(up)), 'start'), upright(TOP, short(last(up)), 'end'),
    s('text', { x: LEFT, y: HEIGHT - 5 }, short(first(across))), s('text', { x: middle, y: HEIGHT - 5, 'text-anchor': 'middle' }, `${joint.columns[0]} →`),
    s('text', { x: WIDTH, y: HEIGHT - 5, 'text-anchor': 'end' }, short(last(across))));
}

const first = (labels) => labels[0].split(' – ')[0];
const last = (labels) => labels.at(-1).split(' – ').at(-1);

/** The largest share of some joint shapes. */
export const largest = (...joints) => Math.max(1e-9, ...joints.flatMap((joint) => joint.shares.flat()));
