import { describe, expect, test } from 'vitest';
import { connected } from '../fixture.ts';

describe('calls since the last heartbeat that arrived', () => {
  test('are kept up to a hundred, the newest; the rest is counted', async () => {
    const { vigil, system, way, last } = await connected();
    way.reply = 'is away';
    await system.pass(10_000);
    for (let n = 0; n < 130; n += 1) await vigil.call({ tool: `t${n}` }, () => n);
    way.reply = 'takes';
    await system.pass(20_000);
    const reported = way.arrived.flatMap(({ tool_calls }) => tool_calls.map(({ tool }) => tool));
    expect([reported.length, reported[0], reported.at(-1)]).toEqual([100, 't30', 't129']);
    expect(vigil.status).toEqual({ delivered: way.arrived.length, leftOut: 30 });
    expect(last().tool_calls.length).toBeLessThanOrEqual(100);
  });

  test('never lose the end of a call whose start was reported: it would be in flight forever', async () => {
    const { vigil, system, way } = await connected();
    const { promise, resolve } = Promise.withResolvers<string>();
    const running = vigil.call({ tool: 'slow' }, () => promise);
    await system.pass(10_000);
    way.reply = 'is away';
    await system.pass(10_000);
    resolve('done');
    await running;
    for (let n = 0; n < 300; n += 1) await vigil.call({ tool: `t${n}` }, () => n);
    way.reply = 'takes';
    await system.pass(20_000);
    const reported = way.arrived.flatMap(({ tool_calls }) => tool_calls);
    expect(reported.filter(({ tool }) => tool === 'slow').map(({ outcome }) => outcome)).toEqual(['running', 'ok']);
  });

  test('bring a heartbeat forward before they are too many', async () => {
    const { vigil, way, system } = await connected();
    for (let n = 0; n < 24; n += 1) await vigil.call({ tool: `t${n}` }, () => n);
    await system.pass(200);
    expect(way.arrived.length).toBe(1);
    for (let n = 0; n < 30; n += 1) await vigil.call({ tool: `u${n}` }, () => n);
    await system.pass(200);
    expect(way.arrived.map(({ tool_calls }) => tool_calls.length)).toEqual([0, 51]);
  });
});

describe('what may end a finding', () => {
  const marksOf = ({ deps: line }: Awaited<ReturnType<typeof connected>>['way']) => line?.progress().marks;

  test('is marked with the heartbeat that will carry it', async () => {
    const { vigil, system, way } = await connected();
    expect(marksOf(way)).toEqual({ heartbeat: 1 });
    await vigil.checkpoint({ id: 'cp-1', sha256: 'x' });
    expect(marksOf(way)).toMatchObject({ heartbeat: 1, checkpoint: 2, change: 2 });
    await system.pass(10_000);
    const { sequence } = way.arrived.at(-1) ?? {};
    await vigil.call({ tool: 'Read' }, () => 'text');
    vigil.report({ step: 'ACCEPT', tokens: 5 });
    const next = Number(sequence) + 1;
    expect(marksOf(way)).toMatchObject({
      call: next,
      answer: next,
      success: next,
      tokens: next,
      step: next,
      accept: next,
    });
    expect(marksOf(way)).toMatchObject({ heartbeat: sequence, checkpoint: 2 });
  });

  test('does not include a repeated value or a field that the agent does not report', async () => {
    const { vigil, system, way } = await connected();
    await vigil.checkpoint({ id: 'cp-1', sha256: 'x' });
    await system.pass(20_000);
    await vigil.checkpoint({ id: 'cp-1', sha256: 'x' });
    vigil.report({ work: { id: 'W-1', updatedAt: 5 } });
    expect(marksOf(way)).toMatchObject({ checkpoint: 2 });
    expect(Object.keys(marksOf(way) ?? {}).sort()).toEqual(['activity', 'change', 'checkpoint', 'heartbeat']);
  });
});
