import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { call, type HeartbeatPayload, heartbeat, policyOf, T0 } from '../fixture.ts';
import { agentHealth } from './health.ts';

const SIGNALS = {
  no_checkpoint: { after: '10s' },
  no_calls: { after: '10s' },
  no_tokens: { after: '10s' },
  self_reported_stuck: {},
  rate_limited: { for: '1h' },
};
type Plan = { readonly when: string; readonly do: readonly string[] };
const planned = (when: string): Plan => ({ when, do: ['alert'] });

/**
 * The awaited progress of the first warrant of an agent that has made a call, used tokens and written a checkpoint, and
 * then reports `more` for long enough.
 */
const awaited = (states: object, more: (ms: number) => Partial<HeartbeatPayload>, plans = [planned('STUCK')]) => {
  const document = { policy: 'p', signals: SIGNALS, states, plans, exemptions: { rate_limited: false } };
  const agent = given(agentHealth(policyOf(JSON.stringify(document))), T0);
  const first = { tool_calls: [call('c0')], token_count: 5, reports_checkpoints: true, activity: 'working' } as const;
  agent.receive(heartbeat(0, first), T0);
  for (let ms = 1000; ms <= 12_000; ms += 1000)
    agent.receive(heartbeat(ms, { token_count: 5, activity: 'working', ...more(ms) }), T0 + ms);
  const [filed] = agent.all().flatMap((event) => (event.type === 'WARRANT_FILED' ? [event.payload] : []));
  return filed?.awaits;
};
const calls = (ms: number): Partial<HeartbeatPayload> => ({ tool_calls: [call(`c${ms}`, { args_hash: `${ms}` })] });
const silent = (): Partial<HeartbeatPayload> => ({});

test('a finding awaits the signal that was missing', () => {
  expect(awaited({ STUCK: ['no_checkpoint', 'no_calls'] }, calls)).toEqual([['checkpoint']]);
});

test('a finding by two alternatives awaits the end of both', () => {
  expect(awaited({ STUCK: ['no_checkpoint', 'no_calls'] }, silent)).toEqual([['checkpoint'], ['call']]);
});

test('a finding by rules that fire together awaits the end of any of them', () => {
  expect(awaited({ STUCK: ['no_checkpoint + no_tokens'] }, calls)).toEqual([['checkpoint', 'tokens']]);
});

test('a partly firing combination of rules is not a finding', () => {
  expect(awaited({ STUCK: ['no_checkpoint', 'no_calls + no_tokens'] }, calls)).toEqual([['checkpoint']]);
});

test('a signal that fires at the same time but leads to no plan is not awaited', () => {
  expect(awaited({ STUCK: ['no_checkpoint'], DEGRADED: ['no_calls', 'no_tokens'] }, silent)).toEqual([['checkpoint']]);
});

test('the end of a lesser state with a plan of its own is awaited, too', () => {
  const states = { FAILING: ['no_calls'], STUCK: ['no_checkpoint'] };
  expect(awaited(states, silent, [planned('FAILING'), planned('STUCK')])).toEqual([['call'], ['checkpoint']]);
  expect(awaited(states, silent, [planned('FAILING')])).toEqual([['call']]);
});

test('a finding by a fact awaits nothing, even together with other signals', () => {
  const stuck = () => ({ activity: 'stuck' as const });
  expect(awaited({ STUCK: ['self_reported_stuck'] }, stuck)).toEqual([[]]);
  const limited = (ms: number) => (ms < 12_000 ? calls(ms) : { rate_limit: { retry_at: null } });
  expect(awaited({}, limited, [planned('rate_limited')])).toEqual([[]]);
});

test('a warrant is renewed at once when its awaited progress changes, and not before', () => {
  const signals = { no_checkpoint: { after: '10s' }, no_calls: { after: '20s' } };
  const document = { policy: 'p', signals, states: { STUCK: Object.keys(signals) }, plans: [planned('STUCK')] };
  const agent = given(agentHealth(policyOf(JSON.stringify(document))), T0);
  agent.receive(heartbeat(0, { tool_calls: [call('c0')], reports_checkpoints: true }), T0);
  for (let ms = 1000; ms <= 25_000; ms += 1000) agent.receive(heartbeat(ms), T0 + ms);
  agent.receive(heartbeat(26_000, calls(26_000)), T0 + 26_000);
  const emitted = agent
    .all()
    .flatMap((event) => ('awaits' in event.payload ? [[event.type, event.payload.awaits]] : []));
  expect(emitted).toEqual([
    ['WARRANT_FILED', [['checkpoint']]],
    ['WARRANT_RENEWED', [['checkpoint'], ['call']]],
    ['WARRANT_RENEWED', [['checkpoint']]],
  ]);
});
