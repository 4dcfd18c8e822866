// Small pictures of digits with their classes, as an npz file or as PNG files: 8×8 pixels, moved and noisy, the same every time.

import { crc32, deflateSync } from 'node:zlib';

const SHAPES = {
  0: ['.###.', '#...#', '#...#', '#...#', '#...#', '.###.'],
  1: ['..#..', '.##..', '..#..', '..#..', '..#..', '.###.'],
  4: ['#..#.', '#..#.', '#####', '...#.', '...#.', '...#.'],
  7: ['#####', '....#', '...#.', '..#..', '..#..', '..#..'],
};

/** A generator of numbers in [0, 1). */
function random(seed) {
  let state = seed;
  return () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 2 ** 32; };
}

function npy(type, shape, bytes) {
  let header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape.join(', ')},), }`;
  header += ' '.repeat(63 - ((10 + header.length) % 64)) + '\n';
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY', 0, 'latin1');
  head[6] = 1;
  head.writeUInt16LE(header.length, 8);
  return Buffer.concat([head, Buffer.from(header), bytes]);
}

/** An archive of files as they are. */
function zip(files) {
  const parts = []; const entries = []; let offset = 0;
  for (const [name, bytes] of files) {
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(bytes.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(name), bytes]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, tail, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}

/** Digits: `[class, pixels]`. */
function drawn(count) {
  const next = random(7);
  const names = Object.keys(SHAPES);
  return Array.from({ length: count }, (_, i) => {
    const name = names[i % names.length];
    const pixels = Buffer.alloc(64);
    const [dx, dy] = [Math.floor(next() * 3), Math.floor(next() * 2)];
    SHAPES[name].forEach((line, y) => [...line].forEach((sign, x) => {
      if (sign === '#') pixels[(y + dy + 1) * 8 + x + dx] = 180 + Math.floor(next() * 75);
    }));
    return [name, pixels];
  });
}

function png(pixels) {
  const chunk = (kind, data) => {
    const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
    const [size, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(data.length);
    crc.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, crc]);
  };
  const header = Buffer.from([0, 0, 0, 8, 0, 0, 0, 8, 8, 0, 0, 0, 0]);
  const lines = Buffer.concat(Array.from({ length: 8 }, (_, y) => Buffer.concat([Buffer.from([0]), pixels.subarray(8 * y, 8 * y + 8)])));
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header), chunk('IDAT', deflateSync(lines)), chunk('IEND', Buffer.alloc(0))]);
}

/** As an npz file. */
export function digits(count) {
  const all = drawn(count);
  const labels = Buffer.from(all.map(([name]) => Number(name)));
  return zip([['images.npy', npy('|u1', [count, 8, 8], Buffer.concat(all.map(([, pixels]) => pixels)))], ['labels.npy', npy('|u1', [count], labels)]]);
}

/** As pictures in folders: `[path, bytes]`. */
export const digitPictures = (count) => drawn(count).map(([name, pixels], i) => [`${name}/${i}.png`, png(pixels)]);

/** As a zip of those, in a folder of its own. */
export const digitZip = (count) => zip(digitPictures(count).map(([name, bytes]) => [`shapes/${name}`, bytes]));
