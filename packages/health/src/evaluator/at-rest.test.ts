import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { contentHash } from '@vigil/policy';
import { sparse } from '@vigil/stream';
import { clockAt, given, readAtRest, shapeOf } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { call, type HeartbeatPayload, heartbeat, policyOf, presetsWith, T0 } from '../fixture.ts';
import { WAIT } from '../history/presence/waits.ts';
import { AT_REST } from './at-rest.ts';
import { agentHealth } from './health.ts';
import type { AgentState } from './state.ts';

const form = sparse(AT_REST.usual);
const shape = shapeOf(AT_REST);
const shapes = [AT_REST.oldest, ...AT_REST.upgrades.map((_, i) => AT_REST.oldest + i + 1)];

const stateAfter = (more: (i: number) => Partial<HeartbeatPayload>) => {
  const agent = given(agentHealth(presetsWith('vigil')), T0);
  for (let i = 0; i < 100; i++) agent.receive(heartbeat(i * 1000, more(i)), T0 + i * 1000);
  return agent.state();
};

test('an agent that reports only required fields takes 700 bytes at rest, a working one 1,900', () => {
  const bare = stateAfter((i) => ({ last_tool_call: T0 + i * 1000 }));
  expect(form.write(bare).length).toBeLessThan(700);
  expect(form.read(form.write(bare))).toEqual(bare);
  const works = stateAfter((i) => ({ sequence: i, tool_calls: [call(`c${i}`, { args_hash: `a${i}` })] }));
  expect(form.write(works).length).toBeLessThan(1_900);
  expect(form.read(form.write(works))).toEqual(works);
});

test('the usual values belong to the shape, because the snapshot was written without them', () => {
  expect([shape, contentHash(JSON.stringify(AT_REST.usual))]).toEqual([19, '92242640fed9dc52']);
});

const decider = agentHealth(presetsWith('vigil'));

const LIMITED = policyOf(`
policy: limited
signals: { no_activity: { after: 1h } }
states: { STUCK: [no_activity] }
spending: { agent: { tokens: 100 }, task: { tokens: 100, usd: 5 }, cost: reported }
`);

/** In its second session. */
const limited = (): AgentState => {
  const agent = given(agentHealth(LIMITED), T0);
  const usage = [{ model: 'm', input_tokens: 9, cache_read_tokens: 0, cache_write_tokens: 0, output_tokens: 0 }];
  for (const [i, session_id] of ['A', 'B'].entries()) {
    const used = { client: { name: 'codex', session_id }, token_count: 40, usage, cost_usd: 0.5 };
    agent.receive(heartbeat(i * 1000, { ...used, sequence: i + 1, task_id: 'T' }), T0 + i * 1000);
  }
  return agent.state();
};

const silentFor = (ms: number): AgentState => {
  const agent = given(decider, T0);
  agent.receive(heartbeat(0, { sequence: 1, task_id: 'T' }), T0);
  agent.passTo(T0 + ms);
  return agent.state();
};

/**
 * States of the present code. The golden file of a shape has them as stored when the shape was created, and is not
 * written again.
 */
const SAMPLES: Readonly<Record<string, AgentState>> = {
  bare: stateAfter((i) => ({ last_tool_call: T0 + i * 1000 })),
  working: stateAfter((i) => ({ sequence: i, tool_calls: [call(`c${i}`, { args_hash: `a${i}` })] })),
  'stuck, under a warrant': silentFor(30 * 60_000),
  'limited in what it uses': limited(),
  'after waits': stateAfter((i) => ({ activity: i % 50 < 10 ? 'awaiting_input' : 'working' })),
};

const pathOf = (of: number) => new URL(`../../golden/state-${of}.json`, import.meta.url);
const golden = (of: number): Readonly<Record<string, string>> => JSON.parse(readFileSync(pathOf(of), 'utf8'));

test('each supported shape has a golden file, and no other shape has one', () => {
  if (!existsSync(pathOf(shape))) {
    const texts = Object.entries(SAMPLES).map(([name, state]) => [name, form.write(state)]);
    writeFileSync(pathOf(shape), `${JSON.stringify(Object.fromEntries(texts), null, 2)}\n`);
  }
  const files = readdirSync(new URL('../../golden', import.meta.url));
  expect(files.toSorted()).toEqual(shapes.map((of) => `state-${of}.json`).toSorted());
});

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields of `one` that `other` lacks, or has with another type of value; null matches any type. */
const missingFrom = (one: unknown, other: unknown, path: string): readonly string[] => {
  if (one === null || other === null) return [];
  if (!isObject(one) || !isObject(other)) return typeof one === typeof other ? [] : [path];
  return Object.entries(one).flatMap(([name, own]) =>
    Object.hasOwn(other, name) ? missingFrom(own, other[name], `${path}/${name}`) : [`${path}/${name}`],
  );
};

test.each(shapes)(
  'a state of shape %s is read with the fields of the present shape; if not, add an upgrade, which adds a shape',
  (of) => {
    for (const [name, text] of Object.entries(golden(of))) {
      const state = readAtRest(AT_REST, of, text);
      const sample = SAMPLES[name];
      expect([...missingFrom(sample, state, `${name}: misses`), ...missingFrom(state, sample, `${name}: has`)]).toEqual(
        [],
      );
      const clock = clockAt(T0 + 60 * 60_000);
      expect(() => [decider.dueAt(state, clock), decider.decide(state, clock)]).not.toThrow();
    }
  },
);

test('a state of shape 18 excuses what that shape excused: everything before the end of a wait', () => {
  const stored = JSON.parse(golden(18).working ?? '');
  const upgraded = (activity: object, more: object = {}) => {
    const history = { ...stored.history, ...more, activity: { ...stored.history.activity, ...activity } };
    const state = readAtRest(AT_REST, 18, JSON.stringify({ ...stored, history }));
    return state.kind === 'known' ? state.history.waits : null;
  };
  expect(upgraded({})).toEqual([]);
  // An object with other fields than the usual one is stored in a list.
  const asked = { left: [{ awaiting_input: T0 + 50_000 }] };
  expect(upgraded(asked)).toEqual([[T0, T0 + 50_000, WAIT.awaiting_input + WAIT.stopped]]);
  expect(upgraded({ ...asked, value: 'idle' }, { asked: T0 + 20_000 })).toEqual([
    [T0, T0 + 20_000, WAIT.awaiting_input + WAIT.stopped + WAIT.question + WAIT.idle],
    [T0 + 20_000, T0 + 50_000, WAIT.awaiting_input + WAIT.stopped + WAIT.idle],
    [T0 + 50_000, T0 + 99_000, WAIT.idle],
  ]);
});
