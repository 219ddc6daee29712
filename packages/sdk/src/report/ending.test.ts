import { expect, test } from 'vitest';
import { connected } from '../fixture.ts';

test('closing reports how the agent ended and what was pending; nothing is sent after it', async () => {
  for (const [ending, activity, reason] of [
    [{}, 'finished', 'finished'],
    [{ reason: 'explicit' }, 'exiting', 'explicit'],
    [{ reason: 'crashed', code: 3 }, null, 'crashed'],
  ] as const) {
    const { vigil, way, last, system } = await connected();
    way.reply = 'is away';
    await system.pass(10_000);
    await vigil.call({ tool: 'Read' }, () => 1);
    way.reply = 'takes';
    await vigil.close(ending);
    expect(way.arrived.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(last()).toMatchObject({ activity, exit: { reason }, tool_calls: [{ tool: 'Read' }] });
    vigil.report({ activity: 'working' });
    expect(await vigil.call({ tool: 'Read' }, () => 'still runs')).toBe('still runs');
    await vigil.close();
    await system.pass(60_000);
    expect(way.arrived).toHaveLength(3);
  }
});

test('closing waits no longer than its limit when the other side is away or does not answer', async () => {
  for (const reply of ['is away', 'does not answer'] as const) {
    const { vigil, way } = await connected();
    way.reply = reply;
    await vigil.close({ withinMs: 20 });
    expect(way.closed).toBe(true);
  }
});
