import { expect, test } from 'vitest';
import type { Chunk } from '../pty-host/ring.ts';
import { OutputFeed } from './output-feed.ts';

const chunk = (text: string, from = 0): Chunk => ({ from, at: 5, data: Buffer.from(text) });

const feedTo = (judged: Chunk[], onJudge: () => void = () => {}) =>
  new OutputFeed(
    {
      judge: (one) => {
        judged.push(one);
        onJudge();
      },
      drawn: async () => {},
    },
    () => 0,
  );

test('all output is judged, in its order, in slices that know where they begin', async () => {
  const judged: Chunk[] = [];
  const feed = feedTo(judged);
  const text = Array.from({ length: 3000 }, (_, line) => `line ${line}\n`).join('');
  feed.push(chunk(text.slice(0, 10_000)));
  feed.push(chunk(text.slice(10_000), 10_000));
  await feed.caughtUp();
  expect(Buffer.concat(judged.map(({ data }) => data)).toString()).toBe(text);
  let from = 0;
  for (const one of judged) {
    expect(one.from).toBe(from);
    from += one.data.length;
  }
});

test('an agent that prints without end leaves the others their turn', async () => {
  const order: string[] = [];
  const flood = feedTo([], () => order.push('flood'));
  const other = feedTo([], () => order.push('other'));
  flood.push(chunk('y\n'.repeat(500_000)));
  other.push(chunk('done\n'));
  await other.caughtUp();
  expect(order).toContain('other');
  expect(order.filter((one) => one === 'flood').length).toBeLessThan(1_000_000 / 4096 / 2);
  flood.drain();
});

test('the program waits while more than 64 KiB wait to be evaluated, and continues when few do', async () => {
  const feed = feedTo([]);
  const calls: string[] = [];
  feed.from({ pause: () => calls.push('pause'), resume: () => calls.push('resume') });
  feed.push(chunk('x'.repeat(65_536)));
  expect(calls).toEqual([]);
  feed.push(chunk('x'.repeat(8192)));
  expect(calls).toEqual(['pause']);
  await feed.caughtUp();
  expect(calls).toEqual(['pause', 'resume']);
});

test('what waits when an agent ends is judged at once', () => {
  const judged: Chunk[] = [];
  const feed = feedTo(judged);
  feed.push(chunk('x'.repeat(20_000)));
  feed.drain();
  expect(judged.reduce((sum, { data }) => sum + data.length, 0)).toBe(20_000);
});
