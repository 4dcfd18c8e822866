// Small pictures of digits with their classes, as an npz file: 8×8 pixels, moved and noisy, the same every time.

import { crc32 } from 'node:zlib';

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

export function digits(count) {
  const next = random(7);
  const images = Buffer.alloc(count * 64); const labels = Buffer.alloc(count);
  const names = Object.keys(SHAPES);
  for (let i = 0; i < count; i += 1) {
    const name = names[i % names.length];
    labels[i] = Number(name);
    const [dx, dy] = [Math.floor(next() * 3), Math.floor(next() * 2)];
    SHAPES[name].forEach((line, y) => [...line].forEach((sign, x) => {
      if (sign === '#') images[i * 64 + (y + dy + 1) * 8 + x + dx] = 180 + Math.floor(next() * 75);
    }));
  }
  return zip([['images.npy', npy('|u1', [count, 8, 8], images)], ['labels.npy', npy('|u1', [count], labels)]]);
}
