import { loadPolicy } from '@vigil/policy';
import { expect, test } from 'vitest';
import { VOCABULARY } from '../vocabulary.ts';
import { exportSpan, fileSource } from './file.ts';
import { logSource } from './log-source.ts';
import { EvaluatorOnLog, judgedFleet, presetNamed } from './replay.fixture.ts';
import type { Span } from './source.ts';
import { type WhatIf, whatIf } from './what-if.ts';

const ALL: Span = { from: null, to: null, agent: null };
const { signal } = new AbortController();

/** The preset demo with another limit of silence, and another plan. */
const silentFor = (after: string, plan = 'nudge: { attempts: 1, interval: 10s }') =>
  loadPolicy(
    `policy: patient
heartbeat: { interval: 1s, lost_after: 15s }
signals: { no_activity: { after: ${after} } }
states: { STUCK: [no_activity] }
plans: [{ when: STUCK, do: [${plan}] }]
`,
    'patient.yaml',
    VOCABULARY,
  );

/** Two agents under a policy of 8 s: one reports for 20 s, one pauses for 10 s after its fifth report. */
const fleet = new EvaluatorOnLog(2);
await fleet.use(silentFor('8s'));
await fleet.start();
await fleet.pass(20, (second) => {
  fleet.heartbeat('works', second + 1, { activity: 'working' });
  if (second < 5 || second > 15) fleet.heartbeat('pauses', second + 1);
});
await fleet.stop();

const compared = async (policy: Parameters<typeof whatIf>[1]['policy'], span: Partial<Span> = {}): Promise<WhatIf> =>
  whatIf(await logSource(fleet.log, { ...ALL, ...span }, () => {}), { policy, insteadOf: 'all' }, signal);

test('under the recorded policy no agent is judged differently', async () => {
  const same = await compared(silentFor('8s'));
  expect(same).toMatchObject({ agents: 2, actedOtherwise: 0, different: [] });
  expect(same.recorded).toEqual(same.otherwise);
  expect(same.recorded).toMatchObject({ stuck: 1, plans: 1 });
});

test('a longer limit prevents the finding and the plan: the comparison ends at the plan, the first different act', async () => {
  const { different, recorded, otherwise, actedOtherwise } = await compared(silentFor('15s'));
  expect(different.map(({ agent }) => agent)).toEqual(['pauses']);
  expect([recorded, otherwise]).toMatchObject([
    { stuck: 1, plans: 1 },
    { stuck: 0, plans: 0 },
  ]);
  expect(actedOtherwise).toBe(1);
  const only = different[0]?.outcomes.filter(({ isSame }) => !isSame);
  expect(only).toMatchObject([
    { recorded: { kind: 'state', to: 'STUCK' }, otherwise: null },
    { recorded: { kind: 'plan_begins', steps: ['nudge'] }, otherwise: null },
  ]);
  expect(different[0]?.differsFrom).toBe(only?.at(-1)?.at);
  expect(different[0]?.outcomes.at(-1)).toBe(only?.at(-1));
});

test('a shorter limit finds the silence sooner, and the same plan at another time is a different act', async () => {
  const { different, actedOtherwise } = await compared(silentFor('5s'));
  expect(actedOtherwise).toBe(1);
  expect(different[0]?.outcomes.find(({ isSame }) => !isSame)).toMatchObject({
    recorded: null,
    otherwise: { kind: 'state', to: 'STUCK' },
  });
});

test('with another plan the finding is the same, and the comparison ends at the plan', async () => {
  const { different } = await compared(silentFor('8s', 'alert: { severity: warning }'));
  expect(different[0]?.outcomes.slice(-3)).toMatchObject([
    { isSame: true, recorded: { kind: 'state', to: 'STUCK' } },
    { isSame: false, recorded: { kind: 'plan_begins', steps: ['nudge'] }, otherwise: null },
    { isSame: false, recorded: null, otherwise: { kind: 'plan_begins', steps: ['alert'] } },
  ]);
});

test('a span begins with the states of its agents: an earlier finding is not found again', async () => {
  const whole = await compared(silentFor('5s'));
  const stuckAt = whole.different[0]?.outcomes.find(({ otherwise }) => otherwise?.kind === 'state')?.at ?? 0;
  const { recorded, otherwise } = await compared(silentFor('8s'), { from: stuckAt + 6000 });
  expect(recorded).toEqual(otherwise);
  expect(recorded.plans).toBe(0);
});

test('one agent is compared alone', async () => {
  expect(await compared(silentFor('15s'), { agent: 'works' })).toMatchObject({ agents: 1, different: [] });
});

test('an exported span is compared like the log', async () => {
  const lines: string[] = [];
  const about = { version: '1.2.3', exportedAt: 0 };
  await exportSpan(await logSource(fleet.log, ALL, () => {}), about, (line) => lines.push(line), signal);
  const each = async function* () {
    yield* lines;
  };
  const source = await fileSource(each(), 'incident.ndjson.gz', ALL, () => {});
  const policy = silentFor('15s');
  expect(await whatIf(source, { policy, insteadOf: 'all' }, signal)).toEqual(await compared(policy));
});

test('with a named policy, only its agents are judged under the other one', async () => {
  const two = await judgedFleet([presetNamed('vigil')]);
  const under = async (insteadOf: string) =>
    whatIf(await logSource(two.log, ALL, () => {}), { policy: silentFor('2s'), insteadOf }, signal);
  const [all, demo] = [await under('all'), await under('demo')];
  expect(all.different.length).toBeGreaterThan(0);
  // From the second start on, agents have the policy vigil, which is not replaced.
  expect(demo.different.length).toBeLessThanOrEqual(all.different.length);
  expect(demo.otherwise.stuck).toBeGreaterThan(0);
});

test('a policy that was not recorded cannot be replaced, and the message has the names without the assignment', async () => {
  const source = await logSource(fleet.log, ALL, () => {});
  await expect(whatIf(source, { policy: silentFor('2s'), insteadOf: 'dem' }, signal)).rejects.toThrow(
    /^no recorded policy is called dem: give one of [a-z]+, or leave it out$/,
  );
});
