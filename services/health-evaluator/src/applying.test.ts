import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Count } from '@vigil/chassis';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { canonicalJson } from '@vigil/policy';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { followApplied } from './applying.ts';
import { loadPolicies } from './policies.ts';
import { evaluator } from './processor.ts';

/** A policy that believes an agent that reports it is stuck, or does not. */
const policy = (name: string, believes: boolean) => ({
  policy: name,
  signals: { self_reported_stuck: {} },
  states: believes ? { STUCK: ['self_reported_stuck'] } : { DEGRADED: ['self_reported_stuck'] },
});
const command = (name: string, document: unknown) =>
  example(Topic.applyPolicy, 'APPLY_POLICY', {
    name,
    document: document === null ? null : canonicalJson(document),
    by: 'ada',
    why: 'a test',
  });

let folder: string;
let log: MemoryLog;
let applied: number;
let refused: number;
let logged: readonly (readonly [object, string])[];
beforeEach(() => {
  applied = 0;
  refused = 0;
  logged = [];
  folder = mkdtempSync(path.join(os.tmpdir(), 'vigil-applying-'));
  writeFileSync(path.join(folder, 'mine.yaml'), JSON.stringify(policy('mine', false)));
  log = new MemoryLog({ partitions: 1 });
});
afterEach(() => rmSync(folder, { recursive: true }));

/** An evaluator on the log, until it is stopped. */
const open = async () => {
  const stop = new AbortController();
  const info = (fields: unknown, text?: string) => {
    logged = [...logged, [fields as object, text ?? '']];
  };
  const logger = { info, warn: () => {} };
  const count: Count = (...[name]) => {
    if (name === 'policies_applied') applied += 1;
    if (name === 'policies_refused') refused += 1;
  };
  const deps = { logger, count, signal: stop.signal, now: Date.now };
  const { inForce } = await followApplied(log, loadPolicies(folder, { fallback: 'mine', requestable: 'any' }), deps);
  const running = await runProcessor(log, evaluator(inForce, 100), { ...quiet, partitions: 1 });
  return {
    hashOf: (name: string) => inForce().set.policies.find((held) => held.policy.name === name)?.policy.hash,
    inForce,
    stop: async () => {
      stop.abort();
      await running.stop();
    },
  };
};
const refusals = () => log.events(Topic.policy).filter(({ type }) => type === 'POLICY_REFUSED');
/** Applies a policy while an evaluator runs: afterwards it is in force, or refused. */
const apply = async (name: string, document: unknown) => {
  const answers = () => applied + refusals().length;
  const before = answers();
  await log.publish(command(name, document));
  await vi.waitFor(() => expect(answers()).toBeGreaterThan(before), { timeout: 60_000, interval: 1 });
};
const published = () =>
  log.events(Topic.policy).filter(({ type, payload }) => type === 'POLICY_PUBLISHED' && payload.name === 'mine');
const marks = () =>
  log
    .records(Topic.agentHealth)
    .filter(({ key }) => key === '@policy')
    .map(
      ({ value }) =>
        JSON.parse(JSON.parse(String(value)).rules).find((one: { name: string }) => one.name === 'mine').hash,
    );
/** An agent reports that it is stuck. */
const complain = async (agentId: string) => {
  const more = { agent_id: agentId, instance_id: `${agentId}.1`, timestamp: Date.now(), activity: 'stuck' } as const;
  await log.publish({
    ...example(Topic.agentObservation, 'AGENT_HEARTBEAT', { ...more, policy: 'mine' }),
    key: agentId,
  });
  await log.settled();
};
const stuck = () =>
  log
    .events(Topic.agentHealth)
    .filter(({ type, payload }) => type === 'HEALTH_STATE_CHANGED' && payload.to === 'STUCK')
    .map(({ key, policy: by }) => [key, by?.hash]);

test('an applied document is published, then marked, then judged by', async () => {
  const evaluating = await open();
  const file = evaluating.hashOf('mine');
  await complain('before');
  expect(stuck()).toEqual([]);
  await apply('mine', policy('mine', true));
  await complain('after');
  const now = evaluating.hashOf('mine');
  expect(stuck()).toEqual([['after', now]]);
  expect(marks()).toEqual([file, now]);
  expect(published().map(({ payload }) => [payload.hash, 'origin' in payload && payload.origin])).toEqual([
    [file, 'file'],
    [now, 'applied'],
  ]);
  await evaluating.stop();
});

test('a document with mistakes is refused with its reasons, once; what held before still holds', async () => {
  const evaluating = await open();
  const file = evaluating.hashOf('mine');
  await apply('mine', { ...policy('mine', true), states: { STUCK: ['self_reported_stuk'] } });
  expect(evaluating.hashOf('mine')).toBe(file);
  expect(refused).toBe(1);
  await evaluating.stop();
  await (await open()).stop();
  expect(refusals()).toMatchObject([
    {
      key: 'refused:0',
      payload: {
        name: 'mine',
        by: 'ada',
        why: 'a test',
        mistakes: [expect.stringContaining('did you mean self_reported_stuck?')],
      },
    },
  ]);
});

test('a restart keeps applied policies, even after a refused one, and publishes nothing again', async () => {
  const first = await open();
  await apply('mine', policy('mine', true));
  await apply('mine', { policy: 'mine' });
  const applied = first.hashOf('mine');
  await first.stop();
  const before = log.records(Topic.policy).length;
  const again = await open();
  expect(again.hashOf('mine')).toBe(applied);
  expect(log.records(Topic.policy)).toHaveLength(before);
  await again.stop();
});

test('a policy that was applied without a running evaluator is in force when one runs', async () => {
  await log.publish(command('mine', policy('mine', true)));
  const evaluating = await open();
  await complain('a');
  expect(stuck()).toEqual([['a', evaluating.hashOf('mine')]]);
  await evaluating.stop();
});

test('a removed policy gives way to the file; a policy without a file is gone, and that is published', async () => {
  const evaluating = await open();
  const file = evaluating.hashOf('mine');
  await apply('mine', policy('mine', true));
  await apply('other', policy('other', true));
  await apply('mine', null);
  await apply('other', null);
  expect([evaluating.hashOf('mine'), evaluating.hashOf('other')]).toEqual([file, undefined]);
  const last = log.events(Topic.policy).at(-1)?.payload;
  expect(last).toMatchObject({ name: 'other', withdrawn: true });
  await evaluating.stop();
});

test('an assignment is applied like a policy: agents are evaluated by the assigned policy', async () => {
  const evaluating = await open();
  await apply('strict', policy('strict', true));
  await apply('assign.yaml', { rules: [{ id: '^ci-', policy: 'strict' }], default: 'mine' });
  await complain('ci-1');
  await complain('dev-1');
  expect(stuck()).toEqual([['ci-1', evaluating.hashOf('strict')]]);
  await apply('strict', null);
  expect(evaluating.hashOf('strict')).toBeDefined();
  await evaluating.stop();
});

test('the start logs which axes of the stuck sweep are active, and so does an applied policy', async () => {
  const sweeps = () => logged.flatMap(([fields, text]) => (text.startsWith('the stuck sweep') ? [fields] : []));
  const evaluating = await open();
  expect(sweeps()).toContainEqual({
    policy: 'gascity',
    state: 'disabled',
    thresholdMs: 600_000,
    label: 'pool:dog',
    patterns: 0,
    progressMismatch: true,
  });
  const signals = { no_work_update: { after: '1m' }, error_pattern: { patterns: ['API Error'] } };
  await apply('mine', { policy: 'mine', signals, states: { STUCK: ['no_work_update + error_pattern'] } });
  expect(logged.at(-1)).toMatchObject([
    { policy: 'mine', sweep: { state: 'enabled', patterns: 1, progressMismatch: false, thresholdMs: 60_000 } },
    'a policy is applied',
  ]);
  await evaluating.stop();
});
