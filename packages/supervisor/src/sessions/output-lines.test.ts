import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { OutputLines } from './event-stream.ts';

/** The lines of these pieces, and the lengths of dropped lines. */
const read = (pieces: readonly string[], longest = 1000) => {
  const dropped: number[] = [];
  const lines = new OutputLines(longest, (bytes) => void dropped.push(bytes));
  const whole = pieces.flatMap((piece) => lines.take(Buffer.from(piece)));
  return { whole, rest: lines.end(), dropped };
};

test('lines come out whole, wherever the output is cut, even within a character', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', '')));
  fc.assert(
    fc.property(texts, fc.array(fc.nat(200)), (expected, cuts) => {
      const bytes = Buffer.from(expected.map((text) => `${text}\n`).join(''));
      const at = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const lines = new OutputLines(100_000, () => expect.unreachable());
      const found = at.slice(1).flatMap((end, index) => lines.take(bytes.subarray(at[index], end)));
      expect(found).toEqual(expected.filter((text) => text !== ''));
    }),
  );
});

test('a line of the greatest length is kept, one byte more is dropped, and the next line is read', () => {
  expect(read(['12345\n12', '3456\nnext\n'], 5)).toEqual({ whole: ['12345', 'next'], rest: [], dropped: [6] });
});

test('what follows the last newline is a line once nothing follows', () => {
  expect(read(['one\ntw', 'o'])).toEqual({ whole: ['one'], rest: ['two'], dropped: [] });
  expect(read(['one\n'])).toEqual({ whole: ['one'], rest: [], dropped: [] });
});

test('a line without its start or its middle is not read', () => {
  const dropped: number[] = [];
  const lines = new OutputLines(100, (bytes) => void dropped.push(bytes));
  expect(lines.take(Buffer.from('{"a":'))).toEqual([]);
  lines.lose();
  expect(lines.take(Buffer.from('1}\n{"b":2}\n'))).toEqual(['{"b":2}']);
  expect(dropped).toEqual([7]);
});

/** Bytes of all buffers that are still in use. */
const usedByBuffers = (): number => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().arrayBuffers;
};

test('a line that is too long takes no memory while it continues', async () => {
  const lines = new OutputLines(10, () => {});
  const before = usedByBuffers();
  for (let count = 0; count < 200; count += 1) lines.take(Buffer.alloc(1 << 20, 'x'));
  // Node frees buffers some time after a collection.
  await vi.waitFor(() => expect(usedByBuffers() - before).toBeLessThan(20 << 20), { timeout: 60_000, interval: 100 });
  expect(lines.end()).toEqual([]);
});
