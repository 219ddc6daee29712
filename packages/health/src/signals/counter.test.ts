import { NEVER } from '@vigil/stream';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { brief, call, type HeartbeatPayload, heartbeat, history, judgedAt, policyOf, T0 } from '../fixture.ts';
import { diverseCalls, steadyTokens } from './counter.ts';
import { using } from './testing/cases-cost.ts';

const calls = (each: readonly string[]) =>
  each.map((args_hash, i): [number, Partial<HeartbeatPayload>] => [
    1000 * i,
    { tool_calls: [call(`c${i}`, { args_hash })] },
  ]);
const judging = (ms: number) => judgedAt(T0 + ms);
const diverse = (each: readonly string[], ms = 8000) =>
  diverseCalls.firesFrom(history(calls(each)), diverseCalls.limits.parse({}) as never, judging(ms)) < NEVER;

test('six different calls among the last eight are diverse, a cycle of five is not', () => {
  expect(diverse([...'abcdef'])).toBe(true);
  expect(diverse([...'aabbcdef'])).toBe(true);
  expect(diverse([...'aaabcdef'])).toBe(true);
  expect(diverse([...'aaaabcde'])).toBe(false);
  expect(diverse([...'abcdeabcdeabcde'])).toBe(false);
});

test('diverse calls count for five minutes after the last', () => {
  expect(diverse([...'abcdef'], 305_000)).toBe(true);
  expect(diverse([...'abcdef'], 305_001)).toBe(false);
});

const steady = (tokens: readonly number[], more = 0) =>
  steadyTokens.firesFrom(
    history(using(...tokens)),
    steadyTokens.limits.parse({}) as never,
    judging(tokens.length * 60_000 + more),
  ) < NEVER;

test('use of tokens is steady if each of four rates is between half and twice their median', () => {
  expect(steady([900, 900, 900])).toBe(false);
  expect(steady([900, 900, 900, 1800])).toBe(true);
  expect(steady([900, 900, 900, 1801])).toBe(false);
  expect(steady([900, 900, 900, 450])).toBe(true);
  expect(steady([900, 900, 900, 449])).toBe(false);
});

test('steady use counts for five minutes after the last', () => {
  expect(steady([900, 900, 900, 900], 300_000)).toBe(true);
  expect(steady([900, 900, 900, 900], 300_001)).toBe(false);
});

const POLICY = `
policy: p
signals:
  diverse_calls: {}
  looping: { is: repeated_calls, times: 5, unless: diverse_calls }
states: { STUCK: [looping] }
plans: [{ when: STUCK, do: [{ alert: ops }] }]
exemptions: { starting: false, idle: false }
`;
/** Calls that were all seen before, so that none of them is progress. */
const seen = [...'bcdef'];

test('it quiets the signals that list it, and the decision is due again when it ends by itself', () => {
  const decider = agentHealth(policyOf(POLICY));
  const agent = given(decider, T0);
  for (const [ms, more] of calls([...seen, 'a', 'a', 'a', 'a', 'a'])) agent.receive(heartbeat(ms, more), T0 + ms);
  expect(brief(agent.all())).toContain('HEALTHY → STUCK');
  for (const [ms, more] of calls(seen)) agent.receive(heartbeat(10_000 + ms, more), T0 + 10_000 + ms);
  expect(brief(agent.all()).slice(-3)).toContain('STUCK → HEALTHY');
  expect(brief(agent.passTo(T0 + 314_000))).toEqual(['AGENT_LOST silent']);
  expect(decider.dueAt(agent.state(), agent.clock())).toBe(T0 + 314_001);
  expect(brief(agent.passTo(T0 + 315_000))).toContain('HEALTHY → STUCK');
});

test('counter-evidence is not evidence of a finding, and adds no second axis', () => {
  const agent = given(agentHealth(policyOf(POLICY.replace(', unless: diverse_calls', ''))), T0);
  const counted = [...seen, 'a', 'a', 'a', 'a', 'a', ...seen];
  for (const [ms, more] of calls(counted)) agent.receive(heartbeat(ms, more), T0 + ms);
  const filed = agent.all().flatMap((emitted) => (emitted.type === 'WARRANT_FILED' ? [emitted.payload] : []));
  expect(filed.map(({ axes, hard, evidence }) => [axes, hard, evidence.map(({ signal }) => signal)])).toEqual([
    [['repetition'], false, ['looping']],
  ]);
});

test.each(['a_first', 'z_last'])('a quieted signal quiets no other, with any names: %s', (name) => {
  const policy = policyOf(
    `policy: p
signals:
  ${name}: { is: no_heartbeat, after: 10s, unless: mid }
  mid: { is: no_activity, after: 10s, unless: stuck }
  stuck: { is: self_reported_stuck }
states: { STUCK: [${name}] }
exemptions: { starting: false, idle: false }
`,
  );
  const agent = given(agentHealth(policy), T0);
  agent.receive(heartbeat(0, { activity: 'stuck' }));
  expect(brief(agent.passTo(T0 + 60_000))).toContain('HEALTHY → STUCK');
});
