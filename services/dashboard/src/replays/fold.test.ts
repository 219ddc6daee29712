import { logSource, verify, whatIf } from '@vigil/health/replay';
import { judgedFleet, presetNamed } from '@vigil/health/replay-fixture';
import { expect, test } from 'vitest';
import { foldAgain } from './fold.ts';

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
