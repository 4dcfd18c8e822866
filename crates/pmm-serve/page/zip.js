// A zip archive of files as they are, without compression: how a folder goes to the server as one file.

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => { let c = n; for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1; return c >>> 0; });

function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Numbers of 2 and 4 bytes, the least first. */
function record(...fields) {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) { if (size === 2) view.setUint16(at, value, true); else view.setUint32(at, value, true); at += size; }
  return bytes;
}

/** The archive of `[path, file]`; `told` hears what share of the files is done. */
export async function zip(files, told) {
  const encoder = new TextEncoder();
  const parts = []; const entries = []; let offset = 0;
  for (const [i, [path, file]] of files.entries()) {
    const name = encoder.encode(path);
    const crc = crc32(new Uint8Array(await file.arrayBuffer()));
    // Version, flags (names in UTF-8), method, time and date, checksum, sizes, lengths of name and extra field.
    const common = [[2, 20], [2, 0x800], [2, 0], [4, 0x210000], [4, crc], [4, file.size], [4, file.size], [2, name.length], [2, 0]];
    entries.push(record([4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]), name);
    parts.push(record([4, 0x04034b50], ...common), name, file);
    offset += 30 + name.length + file.size;
    told?.((i + 1) / files.length);
  }
  if (offset >= 2 ** 32 || files.length >= 2 ** 16) throw { detail: 'The folder is too large to be sent', remedy: 'put it into the folder that is served yourself' };
  const size = entries.reduce((sum, entry) => sum + entry.length, 0);
  return new Blob([...parts, ...entries, record([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, offset], [2, 0])], { type: 'application/zip' });
}
