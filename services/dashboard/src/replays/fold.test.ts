import { logSource, verify, whatIf } from '@vigil/health/replay';
import { judgedFleet, presetNamed, START } from '@vigil/health/replay-fixture';
import { expect, test } from 'vitest';
import { foldAgain, verifyResult, whatIfResult } from './fold.ts';

const { signal } = new AbortController();
const ALL = { from: null, to: null, agent: null };
const { log } = await judgedFleet();
const { document } = presetNamed('vigil');
const source = () => logSource(log, ALL, () => {});

test('a verification has the counts of `vigil replay verify`, and its progress', async () => {
  const steps: number[][] = [];
  const result = await foldAgain(log, { kind: 'verify', span: ALL }, (...step) => steps.push(step), signal);
  const { differences, earlier, ...counts } = await verify(await source(), signal);
  expect(result).toEqual({ kind: 'verify', ...counts, earlier, earlierCount: 0, differences, differentCount: 0 });
  expect(result).toMatchObject({ agents: 3, differences: [] });
  const [done, of] = steps.at(-1) ?? [];
  expect(done).toBe(of);
});

test('a what if has the outcomes of `vigil replay what-if`, from shortly before the first difference', async () => {
  const spec = { kind: 'what_if', span: ALL, document, insteadOf: 'all' } as const;
  const result = await foldAgain(log, spec, () => {}, signal);
  const policy = presetNamed('vigil');
  const whole = await whatIf(await source(), { policy, insteadOf: 'all' }, signal);
  const { recorded, otherwise, actedOtherwise } = whole;
  expect(result).toMatchObject({ recorded, otherwise, actedOtherwise, differentCount: whole.different.length });
  expect(whole.different.length).toBeGreaterThan(0);
  if (result.kind !== 'what_if') throw new Error('another kind');
  for (const [at, { agent, outcomes, leftOut, differsFrom }] of result.different.entries()) {
    const all = whole.different[at];
    expect({ agent, differsFrom }).toEqual({ agent: all?.agent, differsFrom: all?.differsFrom });
    expect(outcomes).toEqual(all?.outcomes.slice(leftOut.before, all.outcomes.length - leftOut.after));
    expect(outcomes.findIndex(({ isSame }) => !isSame)).toBeLessThanOrEqual(10);
  }
});

test('a policy that was not recorded cannot be replaced, and the message has the names', async () => {
  const spec = { kind: 'what_if', span: ALL, document, insteadOf: 'dem' } as const;
  await expect(foldAgain(log, spec, () => {}, signal)).rejects.toThrow(
    'no recorded policy is called dem: give one of demo, or leave it out',
  );
});

test('figures are those of the agent, at most five hundred in the span', async () => {
  const span = { from: START, to: START + 60_000, agent: 'hangs' };
  const result = await foldAgain(log, { kind: 'figures', span }, () => {}, signal);
  if (result.kind !== 'figures') throw new Error('another kind');
  expect(result.observations).toBe(5);
  expect([result.at[0], result.at.length]).toEqual([START + 1000, 60]);
  const long = { ...span, to: START + 500 * 5000 - 1 };
  const sparse = await foldAgain(log, { kind: 'figures', span: long }, () => {}, signal);
  expect(sparse).toMatchObject({ at: Array.from({ length: 13 }, (_, n) => START + 1000 + n * 5000) });
});

const names = Array.from({ length: 120 }, (_, n) => `worker-${n}`);

test('a large comparison is kept in part: a hundred agents, and fifty outcomes of each from ten before the first difference', () => {
  const outcome = { kind: 'state', from: 'HEALTHY', to: 'STUCK', reason: '' } as const;
  const outcomes = Array.from({ length: 100 }, (_, at) => {
    const isSame = at < 30;
    return { at, position: `t/0/${at}`, recorded: outcome, otherwise: isSame ? outcome : null, isSame };
  });
  const side = { stuck: 120, degraded: 0, plans: 0 };
  const { different, differentCount, earlier, earlierCount } = whatIfResult({
    ...{ observations: 1, agents: 120, actedOtherwise: 0, recorded: side, otherwise: side, earlier: names },
    different: names.map((agent) => ({ agent, outcomes, differsFrom: null })),
  });
  expect([different.length, differentCount, earlier.length, earlierCount]).toEqual([100, 120, 100, 120]);
  expect(different[0]?.outcomes.map(({ at }) => at)).toEqual(Array.from({ length: 50 }, (_, n) => 20 + n));
  expect(different[0]?.leftOut).toEqual({ before: 20, after: 30 });
});

test('a verification keeps the first hundred differences, with the type and the payload of each event', () => {
  const decided = {
    ...{ topic: 't', type: 'AGENT_PRESENT', key: 'k', eventId: 'e', stateKey: 'k', version: 1, epoch: 0 },
    ...{ occurredAt: 5, causationId: null, policy: null, payload: { agentId: 'k' } },
  };
  const { differences, differentCount } = verifyResult({
    ...{ observations: 1, decisions: 1, agents: 120, earlier: [], newer: 0, unreadable: 0 },
    differences: names.map((agent) => ({
      ...{ agent, at: 5, position: null, recorded: decided, decided: null, reason: 'r' },
    })),
  });
  expect([differences.length, differentCount]).toEqual([100, 120]);
  expect(differences[0]).toEqual({
    ...{ agent: 'worker-0', at: 5, position: null, reason: 'r', decided: null },
    recorded: { type: 'AGENT_PRESENT', payload: { agentId: 'k' } },
  });
});
