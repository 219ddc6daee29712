import { expect, test } from 'vitest';
import { Ring } from './ring.ts';

const text = (ring: Ring, offset: number) => ring.from(offset)?.data.toString();

test('output is found by its place from the first byte on, with its time', () => {
  const ring = new Ring(10_000);
  ring.push(Buffer.from('one'), 100);
  ring.push(Buffer.from('two'), 1000);
  expect(ring.from(0)).toMatchObject({ from: 0, at: 100 });
  expect(text(ring, 0)).toBe('one');
  expect(text(ring, 2)).toBe('e');
  expect(ring.from(3)).toMatchObject({ from: 3, at: 1000 });
  expect(text(ring, 5)).toBe('o');
  expect(ring.from(6)).toBeUndefined();
  expect([ring.first, ring.next]).toEqual([0, 6]);
});

test('the oldest bytes are dropped when there is no room, and cannot be read any more', () => {
  const ring = new Ring(3000);
  for (const [at, letter] of ['a', 'b', 'c', 'd'].entries()) ring.push(Buffer.from(letter.repeat(1000)), at * 1000);
  expect([ring.first, ring.next]).toEqual([2000, 4000]);
  expect(ring.from(1999)).toBeUndefined();
  expect(text(ring, 2000)).toBe('c'.repeat(1000));
});

test('a piece larger than the ring is kept until the next comes', () => {
  const ring = new Ring(10);
  ring.push(Buffer.from('x'.repeat(100)), 1);
  expect(text(ring, 0)).toHaveLength(100);
  ring.push(Buffer.from('y'), 1000);
  expect([ring.first, ring.next]).toEqual([100, 101]);
});

test('pieces of a moment are one, so that single bytes do not fill the memory', () => {
  const ring = new Ring(10_000);
  for (let at = 0; at < 1000; at += 1) ring.push(Buffer.from('.'), at);
  expect(ring.first).toBe(0);
  for (let at = 1000; at < 100_000; at += 100) ring.push(Buffer.from('.'), at);
  expect(ring.next - ring.first).toBeLessThan(100);
});
