import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Topic } from '@vigil/events';
import { canonicalJson, contentHash } from '@vigil/policy';
import { writer } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { holds, openSystem, ownServers, type TestSystem, until } from '../support/system.ts';

/** A policy that maps a self-reported stuck agent to that state, and finds silence after `silence`. */
const document = (believes: 'DEGRADED' | 'STUCK', silence: string) => ({
  policy: 'mine',
  heartbeat: { interval: '1s' },
  signals: { self_reported_stuck: {}, no_heartbeat: { after: silence } },
  states: { [believes]: ['self_reported_stuck'], FAILING: ['no_heartbeat'] },
  exemptions: { starting: false, idle: false },
});
const hashOf = (written: object) => contentHash(canonicalJson(written));
const file = document('DEGRADED', '1h');
const strict = document('STUCK', '6s');
const milder = document('STUCK', '1h');

/**
 * The life cycle of a policy: files, applied, refused, kept by a restart, in force in two instances at once, removed.
 */
describe.skipIf(!ownServers)('policies are applied while agents are judged', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'vigil-policies-'));
  const sending = new Set<string>();
  let vigil: TestSystem;
  let over = false;
  let done: Promise<void>;

  const heartbeat = async (
    agentId: string,
  ): Promise<{ policy: { name: string; hash: string }; intervalMs: number }> => {
    const { VIGIL_GATEWAY_URL: url, VIGIL_GATEWAY_TOKEN: token } = vigil.system.env;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const least = { phase: 'work', last_tool_call: null, token_count: 1, error_count: 0, progress_indicator: '1' };
    const body = { ...least, agent_id: agentId, instance_id: `${agentId}.1`, task_id: null, timestamp: Date.now() };
    const init = { method: 'POST', headers, body: JSON.stringify({ ...body, activity: 'stuck' }) };
    return (await fetch(`${url}/v1/heartbeats`, init)).json() as never;
  };
  const write = (name: string, written: object) => {
    const at = path.join(folder, name);
    writeFileSync(at, JSON.stringify(written));
    return at;
  };
  const apply = (...args: string[]) => vigil.vigil('policy', 'apply', ...args, '--by', 'tester', '--why', 'the test');
  const judged = async (agentId: string, to: string, hash: string) =>
    (await vigil.events(Topic.agentHealth)).find(
      ({ key, type, payload, policy }) =>
        key === agentId && type === 'HEALTH_STATE_CHANGED' && payload.to === to && policy?.hash === hash,
    );
  /** The hash of `mine` in each marker, by partition, with the marker's offset. */
  const marks = async () => {
    const found = (await vigil.records(Topic.agentHealth)).filter(({ key }) => key === '@policy');
    return found.map(({ partition, offset, value }) => {
      const rules = JSON.parse(JSON.parse(String(value)).rules) as { name: string; hash: string }[];
      return { partition, offset, hash: rules.find(({ name }) => name === 'mine')?.hash };
    });
  };
  const marked = (hash: string) =>
    until(`each partition is marked with ${hash}`, async () => {
      const at = (await marks()).filter((mark) => mark.hash === hash);
      return new Set(at.map(({ partition }) => partition)).size === 4 && at;
    });
  const listed = async () => {
    const { stdout } = await vigil.vigil('policy', 'list', '--json');
    return (JSON.parse(stdout) as { name: string; hash: string; origin: string }[]).find(({ name }) => name === 'mine');
  };
  const publications = async () =>
    (await vigil.events(Topic.policy)).flatMap(({ type, payload }) =>
      type === 'POLICY_PUBLISHED' && payload.name === 'mine' ? [payload.hash] : [],
    );

  beforeAll(async () => {
    write('mine.yaml', file);
    const services = ['heartbeat-ingest', 'health-evaluator', 'projector', 'dashboard', 'gateway'] as const;
    vigil = await openSystem({ name: 'policies', policy: 'mine', services, env: { VIGIL_POLICY_DIR: folder } });
    done = (async () => {
      while (!over) {
        for (const agentId of sending) await heartbeat(agentId).catch(() => {});
        await sleep(500);
      }
    })();
  });
  afterAll(async () => {
    over = true;
    await done;
    await vigil?.stop();
    rmSync(folder, { recursive: true });
  });

  test('at first the policies of the files are in force', async () => {
    sending.add('loud');
    await heartbeat('quiet');
    await until('loud is DEGRADED', () => judged('loud', 'DEGRADED', hashOf(file)));
    await until('it is listed', async () => (await listed())?.origin === 'file');
    await holds(async () => expect((await heartbeat('loud')).policy).toEqual({ name: 'mine', hash: hashOf(file) }));
  });

  test('an applied policy is published, marked in every partition, and applies also to silent agents', async () => {
    expect(await apply(write('strict.yml', strict))).toMatchObject({ code: 0 });
    expect(await publications()).toContain(hashOf(strict));
    const changed = await until('loud is STUCK', () => judged('loud', 'STUCK', hashOf(strict)));
    const found = await until('quiet is FAILING', () => judged('quiet', 'FAILING', hashOf(strict)));
    const at = await marked(hashOf(strict));
    for (const { record } of [changed, found]) {
      const mark = at.find(({ partition }) => partition === record.partition);
      expect(mark?.offset).toBeLessThan(record.offset);
    }
    for (const { record, policy } of await vigil.events(Topic.agentHealth)) {
      const mark = at.find(({ partition }) => partition === record.partition);
      if (policy !== null) expect(policy.hash === hashOf(strict)).toBe(record.offset > (mark?.offset ?? 0));
    }
    await until('the gateway returns it', async () => (await heartbeat('loud')).policy.hash === hashOf(strict));
  });

  test('a document with mistakes is refused, and the previous one stays in force', async () => {
    const bad = write('bad.yml', { ...strict, colour: 'red' });
    expect(await apply(bad)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('colour: there is no such key'),
    });
    const payload = {
      name: 'mine',
      document: canonicalJson({ ...strict, colour: 'red' }),
      by: 'admin (tester)',
      why: 'past the check',
    };
    await writer(vigil.log, Date.now).write([{ topic: Topic.applyPolicy, type: 'APPLY_POLICY', key: 'mine', payload }]);
    const refused = await until('it is refused', async () =>
      (await vigil.events(Topic.policy)).find(({ type }) => type === 'POLICY_REFUSED'),
    );
    expect(refused.payload).toMatchObject({ by: 'admin (tester)', mistakes: [expect.stringContaining('colour')] });
    expect(await listed()).toMatchObject({ hash: hashOf(strict), origin: 'applied' });
  });

  test('a restart keeps the applied policy', async () => {
    const before = await publications();
    vigil.system.service('health-evaluator').kill('SIGKILL');
    sending.add('later');
    await until('later is STUCK', () => judged('later', 'STUCK', hashOf(strict)));
    expect(await publications()).toEqual(before);
  });

  test('two instances switch to an applied policy, each in its partitions', async () => {
    await vigil.system.another('health-evaluator');
    expect(await apply(write('milder.yml', milder))).toMatchObject({ code: 0 });
    await marked(hashOf(milder));
  });

  test('after the removal of the applied policy the file is in force again', async () => {
    expect(await apply('--remove', 'mine')).toMatchObject({ code: 0 });
    expect(await listed()).toMatchObject({ hash: hashOf(file), origin: 'file' });
    sending.add('last');
    await until('last is DEGRADED', () => judged('last', 'DEGRADED', hashOf(file)));
  });
});
