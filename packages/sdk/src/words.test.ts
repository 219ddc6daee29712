import { expect, test } from 'vitest';
import { connected, settled } from './fixture.ts';
import type { Word } from './index.ts';

test('words reach every listener; one that throws or rejects harms nobody', async () => {
  const heard: Word[] = [];
  const { vigil, way, problems } = await connected({
    onWord: () => {
      throw new Error('listener');
    },
  });
  vigil.onWord(async () => Promise.reject(new Error('another')));
  vigil.onWord((word) => void heard.push(word));
  expect(way.line?.hear({ kind: 'nudge', message: 'still there?' })).toBe(true);
  await settled();
  expect(heard).toEqual([{ kind: 'nudge', message: 'still there?' }]);
  expect(problems).toEqual([expect.stringContaining('listener'), expect.stringContaining('another')]);
});

test('words can be read one after the other, until it is closed', async () => {
  const { vigil, way } = await connected();
  const read: string[] = [];
  const reading = (async () => {
    for await (const word of vigil.words()) if (word.kind === 'nudge') read.push(word.message);
  })();
  await settled();
  for (const message of ['one', 'two']) way.line?.hear({ kind: 'nudge', message });
  await vigil.close();
  await reading;
  expect(read).toEqual(['one', 'two']);
  for await (const word of vigil.words()) expect(word).toBe('none after the end');
});

test('without a listener nobody is told that somebody listens', async () => {
  const { way } = await connected();
  expect(way.line?.hear({ kind: 'nudge', message: 'x' })).toBe(false);
});

test('a probe is answered by its nonce, when the agent replies and not before', async () => {
  const { vigil, way, world, last } = await connected();
  const words: Word[] = [];
  vigil.onWord((word) => void words.push(word));
  way.line?.hear({ kind: 'probe', message: 'there?', nonce: 'n-1' });
  await world.pass(10_000);
  expect(way.arrived.every(({ probe_reply }) => probe_reply === null)).toBe(true);
  const [probe] = words;
  if (probe?.kind === 'probe') probe.reply();
  await world.pass(200);
  expect(last().probe_reply).toBe('n-1');
});
