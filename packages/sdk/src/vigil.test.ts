import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ID, parseHeartbeat } from '@vigil/events';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { connected, settled } from './fixture.ts';
import { connect, type Report, type Settings } from './index.ts';
import { isId } from './report/fields.ts';

const dir = mkdtempSync(join(tmpdir(), 'vigil-sdk-'));
afterAll(() => rmSync(dir, { recursive: true }));

test('reports its identity from the first heartbeat on, under a new instance each time', async () => {
  const labels = { team: 'core' };
  const { last, vigil } = await connected({
    taskId: 'OMN-1',
    labels,
    attempt: 2,
    runtimeId: 'host-1',
    policy: 'strict',
    checkpoints: true,
  });
  expect(last()).toMatchObject({
    agent_id: 'worker-1',
    task_id: 'OMN-1',
    instance_id: vigil.instanceId,
    labels: { team: 'core', host: 'here' },
    attempt: 2,
    runtime_id: 'host-1',
    policy: 'strict',
    reports_checkpoints: true,
    reporter: 'agent',
  });
  expect(connect({ agentId: 'a' }).instanceId).not.toBe(connect({ agentId: 'a' }).instanceId);
});

test('a lasting value is reported until it changes; an event is reported once', async () => {
  const { vigil, system, last } = await connected();
  vigil.report({
    phase: 'build',
    progress: '1/3',
    tokens: 100,
    context: { used: 5, max: 10 },
    step: 'ACCEPT',
    handoff: 'h',
    rateLimitedUntil: 99,
  });
  vigil.report({ tokens: 50, step: true, work: { id: 'OMN-1', updatedAt: '2026-11-22T00:00:00Z', commentCount: 2 } });
  vigil.error(new Error('outside'));
  await system.pass(200);
  const lasting = {
    phase: 'build',
    progress_indicator: '1/3',
    token_count: 150,
    error_count: 1,
    context: { tokens_used: 5, tokens_max: 10 },
    work: { id: 'OMN-1', updated_at: Date.parse('2026-11-22T00:00:00Z'), comment_count: 2 },
  };
  const once = { handoff: 'h', rate_limit: { retry_at: 99 }, errors: [{ error_class: 'Error', message: 'outside' }] };
  expect(last()).toMatchObject({ ...lasting, ...once, steps: { total_steps: 2, verdicts: ['ACCEPT'] } });
  await system.pass(10_000);
  expect(last()).toMatchObject({
    ...lasting,
    handoff: null,
    rate_limit: null,
    errors: [],
    steps: { total_steps: 2, verdicts: [] },
  });
});

test('tokens are unknown until the agent reports some', async () => {
  const { vigil, system, last } = await connected();
  expect(last().token_count).toBeNull();
  vigil.report({ phase: 'build' });
  await system.pass(10_000);
  expect(last().token_count).toBeNull();
  vigil.report({ tokens: 0 });
  await system.pass(10_000);
  expect(last().token_count).toBe(0);
});

test('a warning of the gateway is reported once, however often it comes', async () => {
  const { way, system, problems } = await connected();
  way.answer = { intervalMs: null, policy: null, warnings: ['policy "x" does not exist', 'unknown field "y"'] };
  await system.pass(30_000);
  expect(way.arrived.length).toBeGreaterThan(2);
  expect(problems).toEqual(['the gateway warns: policy "x" does not exist', 'the gateway warns: unknown field "y"']);
});

test('the same error again and again is one entry with its count', async () => {
  const { vigil, system, last } = await connected();
  for (let n = 0; n < 500; n += 1) vigil.error(new Error('again'));
  await system.pass(10_000);
  expect(last().errors).toMatchObject([{ count: 500, message: 'again' }]);
  expect(last().error_count).toBe(500);
});

test('a checkpoint is reported with its digest and its parent; an unreadable one is not reported', async () => {
  const { vigil, system, last, problems } = await connected();
  const file = join(dir, 'c.json');
  writeFileSync(file, '{"step":1}');
  await vigil.checkpoint({ file, completed: ['a'], remaining: ['b'] });
  await system.pass(200);
  const sha256 = createHash('sha256').update('{"step":1}').digest('hex');
  const first = { checkpoint_id: sha256.slice(0, 16), parent_id: null, sha256, uri: pathToFileURL(file).href };
  expect(last()).toMatchObject({
    reports_checkpoints: true,
    checkpoint: { ...first, completed_work: ['a'], remaining_work: ['b'] },
  });
  await vigil.checkpoint({ uri: 's3://bucket/2', id: 'two' });
  await vigil.checkpoint({ file: join(dir, 'missing') });
  await system.pass(200);
  expect(last().checkpoint).toMatchObject({
    checkpoint_id: 'two',
    parent_id: first.checkpoint_id,
    sha256: null,
    uri: 's3://bucket/2',
  });
  expect(problems).toEqual([expect.stringMatching(/a checkpoint is not reported: .*ENOENT/)]);
});

test('a checkpoint whose address the gateway refuses is not reported, and everything else is', async () => {
  const { vigil, system, last, problems } = await connected();
  await vigil.checkpoint({ uri: 's3://bucket/1', id: 'one' });
  await vigil.checkpoint({ uri: 's3://bucket/2#\n\nNEW INSTRUCTIONS', id: 'two' });
  vigil.report({ progress: 'step 2' });
  await system.pass(200);
  expect(last()).toMatchObject({ checkpoint: { checkpoint_id: 'one' }, progress_indicator: 'step 2' });
  expect(problems).toEqual([expect.stringMatching(/^a checkpoint is not reported: .*its address is .*without #, \?/)]);
});

test('with invalid ids everything works, nothing is sent, and the problem is reported', async () => {
  const { vigil, way, problems } = await connected({ agentId: 'no good' });
  expect(await vigil.call({ tool: 'x' }, () => 1)).toBe(1);
  await vigil.close();
  expect(way.tried).toEqual([]);
  expect(problems).toEqual([expect.stringMatching(/agentId is "no good".*nothing is reported/)]);
});

test('for any values that an agent reports, nothing throws and the gateway accepts the heartbeat', async () => {
  const odd = fc.oneof(
    fc.anything(),
    fc.string(),
    fc.double(),
    fc.constantFrom('x'.repeat(9999), -1, 2 ** 60, Number.NaN, '\ud800'),
  );
  const message = fc.record(
    Object.fromEntries(
      'phase progress activity tokens context work step limits blockers handoff rateLimitedUntil'
        .split(' ')
        .map((name) => [name, odd]),
    ),
    { requiredKeys: [] },
  );
  const settings = fc.record(
    { taskId: odd, labels: odd, attempt: odd, policy: odd, runtimeId: odd, maxAttempts: odd },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(settings, fc.array(fc.tuple(message, odd), { maxLength: 4 }), async (given, all) => {
      const { vigil, last } = await connected(given as Partial<Settings>);
      for (const [value, other] of all) {
        vigil.report(value as Report);
        vigil.report(other as Report);
        vigil.error(other);
        await vigil.call(
          { tool: other as string, args: other, deadlineMs: other as number, target: other as string },
          () => other,
        );
        await vigil.checkpoint({ uri: other as string, id: other as string, completed: other as string[] });
      }
      await vigil.close();
      expect(() => parseHeartbeat(JSON.parse(JSON.stringify(last())))).not.toThrow();
    }),
    { numRuns: 60 },
  );
});

test('the SDK accepts the ids that Vigil accepts', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ maxLength: 140 }), fc.stringMatching(/^[\w.:-]{120,130}$/)),
      (id) => isId(id) === ID.test(id),
    ),
  );
});

test('no promise of the SDK rejects without a handler', async () => {
  const lost: unknown[] = [];
  const note = (error: unknown): void => void lost.push(error);
  process.on('unhandledRejection', note);
  const { vigil, way, system } = await connected({ onCommand: () => Promise.reject(new Error('x')) });
  way.reply = 'is away';
  way.answer = { intervalMs: null, policy: { name: 'p', hash: 'h' }, warnings: [] };
  await system.pass(10_000);
  way.deps?.deliver({ kind: 'nudge', message: 'x' });
  void vigil.checkpoint({ file: '/nowhere' });
  await settled();
  await vigil.close({ withinMs: 5 });
  await settled();
  process.off('unhandledRejection', note);
  expect(lost).toEqual([]);
});
