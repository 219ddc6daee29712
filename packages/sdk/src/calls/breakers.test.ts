import { describe, expect, test } from 'vitest';
import { connected } from '../fixture.ts';
import { BreakerOpen } from '../index.ts';

const boom = (more: object = {}) => Object.assign(new Error('boom 7'), more);

describe('the breaker of a kind of call', () => {
  const fails = () => Promise.reject(boom());

  test('refuses at once after the threshold of failures in a row, with a typed error and without a call; heartbeats report it', async () => {
    const { vigil, system, last } = await connected();
    for (let n = 0; n < 5; n += 1) await vigil.call({ tool: 'Bash' }, fails).catch(() => {});
    let calls = 0;
    const refused = await vigil.call({ tool: 'Read' }, () => ++calls).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BreakerOpen);
    expect(refused).toMatchObject({ breaker: 'tool_execution', nextAttemptAt: system.now() + 30_000 });
    expect(calls).toBe(0);
    await system.pass(200);
    expect(last().breakers).toEqual([
      { name: 'tool_execution', state: 'OPEN', failures: 5, next_attempt_at: expect.any(Number) },
    ]);
    expect(last().tool_calls.filter(({ tool }) => tool === 'Read')).toEqual([]);
    await expect(vigil.call({ tool: 'Fetch', kind: 'external_api' }, () => 'other kinds go on')).resolves.toBe(
      'other kinds go on',
    );
    await expect(vigil.call({ tool: 'model', kind: 'model' }, () => 'and it may think')).resolves.toBe(
      'and it may think',
    );
  });

  test('closes when a trial succeeds after the recovery timeout', async () => {
    const { vigil, system, last } = await connected();
    for (let n = 0; n < 5; n += 1) await vigil.call({ tool: 'Bash' }, fails).catch(() => {});
    await system.pass(29_999);
    await expect(vigil.call({ tool: 'Bash' }, () => 1)).rejects.toThrow(BreakerOpen);
    await system.pass(1);
    await expect(vigil.call({ tool: 'Bash' }, () => 1)).resolves.toBe(1);
    await system.pass(200);
    expect(last().breakers).toMatchObject([{ state: 'CLOSED', failures: 0 }]);
  });

  test('a trial that never settles blocks other calls for one timeout, not forever', async () => {
    const { vigil, system } = await connected();
    for (let n = 0; n < 3; n += 1) await vigil.call({ tool: 'x', kind: 'external_api' }, fails).catch(() => {});
    await system.pass(60_000);
    vigil.call({ tool: 'x', kind: 'external_api' }, () => new Promise(() => {})).catch(() => {});
    await system.pass(59_999);
    await expect(vigil.call({ tool: 'x', kind: 'external_api' }, () => 1)).rejects.toThrow(BreakerOpen);
    await system.pass(1);
    await expect(vigil.call({ tool: 'x', kind: 'external_api' }, () => 1)).resolves.toBe(1);
  });

  test('does not count rate limits, cancellations or refusals of another breaker', async () => {
    const { vigil } = await connected();
    const others = [boom({ status: 429 }), boom({ name: 'AbortError' }), new BreakerOpen('external_api', null)];
    for (let n = 0; n < 9; n += 1) await vigil.call({ tool: 'x' }, () => Promise.reject(others[n % 3])).catch(() => {});
    await expect(vigil.call({ tool: 'x' }, () => 1)).resolves.toBe(1);
  });

  test('uses the limits of the policy that the answer names, and the default for a limit that it omits', async () => {
    const { vigil, system, way } = await connected();
    way.document = { breakers: { tool_execution: { failure_threshold: 2, recovery_timeout: '90s' } } };
    way.answer = { intervalMs: null, policy: { name: 'strict', hash: 'h1' }, warnings: [] };
    await system.pass(10_000);
    for (let n = 0; n < 2; n += 1) await vigil.call({ tool: 'Bash' }, fails).catch(() => {});
    await expect(vigil.call({ tool: 'Bash' }, () => 1)).rejects.toMatchObject({ nextAttemptAt: system.now() + 90_000 });
    for (let n = 0; n < 2; n += 1) await vigil.call({ tool: 'api', kind: 'external_api' }, fails).catch(() => {});
    await expect(vigil.call({ tool: 'api', kind: 'external_api' }, () => 1)).resolves.toBe(1);
  });

  test('an order closes it', async () => {
    const { vigil, way } = await connected();
    for (let n = 0; n < 5; n += 1) await vigil.call({ tool: 'Bash' }, fails).catch(() => {});
    way.deps?.deliver({ kind: 'reset_breaker', name: 'tool_execution' });
    await expect(vigil.call({ tool: 'Bash' }, () => 1)).resolves.toBe(1);
  });
});
