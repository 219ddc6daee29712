import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import { answerOf, least, testGateway } from '../testing.ts';

const { log, get, post } = testGateway();

const warnings = async (body: unknown) => {
  const { status, body: answer } = await answerOf(await post('/v1/heartbeats', body));
  expect(status).toBe(202);
  return answer.warnings;
};
const call = { call_id: 'c1', tool: 'Bash', started_at: 1 };

describe('a heartbeat that is taken is answered with what its sender should correct', () => {
  test('an unknown policy, with the one that judges instead and all there are', async () => {
    await log().publish(
      example(Topic.policy, 'POLICY_PUBLISHED', { name: 'strict', hash: 'h2', document: '{}', withdrawn: false }),
    );
    await expect.poll(() => get('/v1/policies/strict').then(({ status }) => status)).toBe(200);
    expect(await warnings({ ...least, policy: 'nosuch' })).toEqual([
      'policy "nosuch" does not exist: this agent is judged by vigil; policies: strict, vigil',
    ]);
  });

  test('a policy that the assignment does not permit, and none once it does', async () => {
    const assign = (may_request: readonly string[]) =>
      log().publish(
        example(Topic.policy, 'POLICY_PUBLISHED', {
          ...{ name: 'assign.yaml', hash: `h-${may_request}`, withdrawn: false },
          document: JSON.stringify({ rules: [{ policy: 'vigil', may_request }], default: 'vigil' }),
        }),
      );
    await log().publish(
      example(Topic.policy, 'POLICY_PUBLISHED', { name: 'strict', hash: 'h2', document: '{}', withdrawn: false }),
    );
    await assign([]);
    const sent = () => warnings({ ...least, policy: 'strict' });
    await expect
      .poll(sent)
      .toEqual([
        'assign.yaml does not permit strict: this agent is judged by vigil; add strict to may_request of its rule, then vigil policy apply assign.yaml',
      ]);
    await assign(['strict']);
    await expect.poll(sent).toEqual([]);
  });

  test('an unknown field, with the field that was probably meant, at any depth', async () => {
    expect(await warnings({ ...least, polcy: 'vigil', tool_calls: [{ ...call, tol: 1 }] })).toEqual([
      'unknown field "polcy", which is left out: did you mean policy?',
      'unknown field "tool_calls[0].tol", which is left out: did you mean tool?',
    ]);
  });

  test('an unknown word, with the words that are known', async () => {
    expect(await warnings({ ...least, tool_calls: [{ ...call, outcome: 'failed' }] })).toEqual([
      expect.stringMatching(/^tool_calls\[0\]\.outcome is "failed", which counts as unknown: write one of .*error/),
    ]);
  });

  test.each([
    [999, ['interval_ms is 999: write at least 1000, a heartbeat a second']],
    [1000, []],
  ])('an interval of %i ms', async (interval_ms, expected) => {
    expect(await warnings({ ...least, interval_ms })).toEqual(expected);
  });

  test.each([
    [{ exit: { reason: 'crashed' } }, 1],
    [{ exit: { reason: 'crashed' }, runtime_id: 'host-1' }, 0],
    [{ exit: { reason: 'finished' } }, 0],
    [{ exit: { reason: 'explicit' } }, 0],
    [{}, 0],
  ])('the end that an agent reports itself, where nothing confirms it: %j', async (more, expected) => {
    const found = (await warnings({ ...least, ...more })) as readonly string[];
    expect(found).toHaveLength(expected);
    for (const warning of found) expect(warning).toContain('exit.reason crashed ends no agent without a runtime');
  });

  test('of a list each warning names its heartbeat', async () => {
    const second = { ...least, agent_id: 'worker-2', polcy: 'vigil' };
    expect(await warnings([least, second])).toEqual([
      'heartbeat [1] of worker-2: unknown field "polcy", which is left out: did you mean policy?',
    ]);
  });

  test('nothing to correct is an empty list, and mistakes without end are cut off', async () => {
    expect(await warnings({ ...least, policy: 'vigil' })).toEqual([]);
    const wrong = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x${i}`, i]));
    expect(await warnings({ ...least, ...wrong })).toHaveLength(21);
  });
});

test('an agent whose heartbeats go to Kafka is warned of its unknown policy when it requests orders', async () => {
  const { body } = await answerOf(await get('/v1/agents/worker-1/orders?policy=nosuch'));
  expect(body.warnings).toEqual([expect.stringContaining('policy "nosuch" does not exist')]);
});

test('a request for an unknown policy is answered with the published names', async () => {
  const { body } = await answerOf(await get('/v1/policies/vigli'));
  expect(body.detail).toBe('policy "vigli" does not exist: did you mean vigil? policies: vigil');
});
