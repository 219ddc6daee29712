import { createInflateRaw, gzipSync, type InflateRaw } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { DamagedGzip, gunzipped } from './gzip.ts';

const opened: InflateRaw[] = [];
const openInflater = (): InflateRaw => {
  const inflate = createInflateRaw();
  opened.push(inflate);
  return inflate;
};
afterEach(() => {
  opened.length = 0;
});

/** In pieces of `size` bytes, as a stream gives them. */
async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}
const read = async (bytes: Buffer, size = 64, most = Number.POSITIVE_INFINITY): Promise<string> => {
  const pieces: Buffer[] = [];
  for await (const piece of gunzipped(inPieces(bytes, size), openInflater)) {
    pieces.push(piece);
    if (pieces.length >= most) break;
  }
  return Buffer.concat(pieces).toString();
};
const areClosed = () => opened.every(({ destroyed }) => destroyed);

const text = Array.from({ length: 5000 }, (_, i) => `line ${i * 7919}`).join('\n');
const TWO = Buffer.concat([gzipSync(text), gzipSync('the end')]);

test('the inflater of each member is closed at its end', async () => {
  expect(await read(TWO)).toBe(`${text}the end`);
  expect([opened.length, areClosed()]).toEqual([2, true]);
});

test('it is closed where the reader stops in the middle', async () => {
  await read(TWO, 64, 1);
  expect([opened.length, areClosed()]).toEqual([1, true]);
});

test('it is closed where the file is damaged or ends in the middle', async () => {
  const damaged = Buffer.from(TWO);
  damaged.fill(0xff, 200, 260);
  await expect(read(damaged)).rejects.toThrow(DamagedGzip);
  await expect(read(TWO.subarray(0, 500))).rejects.toThrow(/ends in the middle/);
  expect([opened.length, areClosed()]).toEqual([2, true]);
});
