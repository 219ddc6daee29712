import { expect, test } from 'vitest';
import { connected, settled } from './fixture.ts';
import type { Command } from './index.ts';

test('commands reach every listener; one that throws or rejects affects no other', async () => {
  const received: Command[] = [];
  const { vigil, way, problems } = await connected({
    onCommand: () => {
      throw new Error('listener');
    },
  });
  vigil.onCommand(async () => Promise.reject(new Error('another')));
  vigil.onCommand((command) => void received.push(command));
  expect(way.deps?.deliver({ kind: 'nudge', message: 'still there?' })).toBe(true);
  await settled();
  expect(received).toEqual([{ kind: 'nudge', message: 'still there?' }]);
  expect(problems).toEqual([expect.stringContaining('listener'), expect.stringContaining('another')]);
});

test('commands can be read one by one, until the agent is closed', async () => {
  const { vigil, way } = await connected();
  const read: string[] = [];
  const reading = (async () => {
    for await (const command of vigil.commands()) if (command.kind === 'nudge') read.push(command.message);
  })();
  await settled();
  for (const message of ['one', 'two']) way.deps?.deliver({ kind: 'nudge', message });
  await vigil.close();
  await reading;
  expect(read).toEqual(['one', 'two']);
  for await (const command of vigil.commands()) expect(command).toBe('none after the end');
});

test('without a listener a command is not accepted', async () => {
  const { way } = await connected();
  expect(way.deps?.deliver({ kind: 'nudge', message: 'x' })).toBe(false);
});

test('a probe is answered by its nonce, when the agent replies and not before', async () => {
  const { vigil, way, system, last } = await connected();
  const commands: Command[] = [];
  vigil.onCommand((command) => void commands.push(command));
  way.deps?.deliver({ kind: 'probe', message: 'there?', nonce: 'n-1' });
  await system.pass(10_000);
  expect(way.arrived.every(({ probe_reply }) => probe_reply === null)).toBe(true);
  const [probe] = commands;
  if (probe?.kind === 'probe') probe.reply();
  await system.pass(200);
  expect(last().probe_reply).toBe('n-1');
});
