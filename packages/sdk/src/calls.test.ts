import { describe, expect, test } from 'vitest';
import { connected } from './fixture.ts';
import { hashes } from './hashes.ts';
import { BreakerOpen } from './index.ts';

const boom = (more: object = {}) => Object.assign(new Error('boom 7'), more);

describe('a wrapped call', () => {
  test('gives its caller what the call gives, and throws what it throws: the very same', async () => {
    const { vigil } = await connected();
    const error = boom();
    await expect(vigil.call({ tool: 'Read' }, () => 42)).resolves.toBe(42);
    await expect(vigil.call({ tool: 'Read' }, async () => 43)).resolves.toBe(43);
    for (const fails of [
      () => Promise.reject(error),
      () => {
        throw error;
      },
    ]) {
      expect(await vigil.call({ tool: 'Read' }, fails).catch((thrown: unknown) => thrown)).toBe(error);
    }
    expect(
      await vigil.call({ tool: 'Read' }, () => Promise.reject(undefined)).catch((thrown: unknown) => [thrown]),
    ).toEqual([undefined]);
  });

  test('is told with everything that judgement reads, and nothing of its content', async () => {
    const { vigil, world, last } = await connected();
    const began = world.now();
    const args = { path: 'secret.ts' };
    const call = { tool: 'Edit', args, mutating: true, polling: true, target: 'secret', deadlineMs: 5000 } as const;
    const result = 'secret 5';
    await vigil.call(call, async () => {
      await world.pass(300);
      return result;
    });
    await world.pass(10_000);
    const { args_hash } = hashes({ args });
    expect(last().tool_calls).toEqual([
      {
        call_id: 'life-1-1',
        kind: 'tool',
        tool: 'Edit',
        ...hashes({ args, result }),
        args_hash,
        outcome: 'ok',
        error_class: null,
        started_at: began,
        ended_at: began + 300,
        deadline_at: began + 5000,
        mutating: true,
        polling: true,
        target: 'secret',
      },
    ]);
    expect(last().last_tool_call).toBe(began + 300);
    expect(JSON.stringify({ ...last(), tool_calls: [{ ...last().tool_calls[0], target: null }] })).not.toContain(
      'secret',
    );
  });

  test('is in flight, with its deadline, until it ends; then it is told as ended, under the same id', async () => {
    const { vigil, world, last } = await connected();
    const { promise, resolve } = Promise.withResolvers<string>();
    const running = vigil.call({ tool: 'Bash', deadlineMs: 60_000 }, () => promise);
    await world.pass(10_000);
    expect(last().tool_calls).toMatchObject([
      { call_id: 'life-1-1', outcome: 'running', deadline_at: expect.any(Number) },
    ]);
    await world.pass(10_000);
    expect(last().tool_calls).toEqual([]);
    resolve('done');
    await running;
    await world.pass(10_000);
    expect(last().tool_calls).toMatchObject([{ call_id: 'life-1-1', outcome: 'ok' }]);
  });

  test('that fails has the class of its error, whoever threw it, and counts as an error', async () => {
    const { vigil, world, last } = await connected();
    const errors = [
      boom({ code: 'ENOENT' }),
      boom(),
      boom({ status: 429 }),
      boom({ name: 'TimeoutError' }),
      boom({ name: 'AbortError' }),
    ];
    for (const error of [...errors, 'text', null])
      await vigil.call({ tool: 'Read', kind: 'model' }, () => Promise.reject(error)).catch(() => {});
    await world.pass(10_000);
    expect(last().tool_calls.map(({ outcome, error_class }) => [outcome, error_class])).toEqual([
      ['error', 'ENOENT'],
      ['error', 'Error'],
      ['error', 'rate_limit'],
      ['error', 'timeout'],
      ['error', 'aborted'],
      ['error', 'string'],
      ['error', 'object'],
    ]);
    const [first, second] = last().tool_calls;
    expect(first?.result_hash).toBe(second?.result_hash);
    expect(last().error_count).toBe(7);
  });

  test('whose result is an error is told as one; a judge that throws leaves it a success, and ended', async () => {
    const { vigil, world, last, problems } = await connected();
    const call = {
      tool: 'Bash',
      errorIn: (result: { code: number }) => (result.code === 0 ? null : `exit_${result.code}`),
    };
    await vigil.call(call, () => ({ code: 2 }));
    await vigil.call(call, () => ({ code: 0 }));
    expect(
      await vigil.call(
        {
          tool: 'x',
          errorIn: () => {
            throw boom();
          },
        },
        () => 1,
      ),
    ).toBe(1);
    await world.pass(10_000);
    expect(last().tool_calls.map(({ outcome, error_class }) => [outcome, error_class])).toEqual([
      ['error', 'exit_2'],
      ['ok', null],
      ['ok', null],
    ]);
    expect(problems).toEqual([expect.stringContaining('boom')]);
  });

  test('of its arguments what they are when it begins counts', async () => {
    const { vigil, world, last } = await connected();
    const args = { n: 1 };
    await vigil.call({ tool: 'x', args }, () => {
      args.n = 2;
    });
    await world.pass(10_000);
    expect(last().tool_calls[0]?.args_hash).toBe(hashes({ args: { n: 1 } }).args_hash);
  });

  test('ends waiting: an agent that calls is at work, whatever it said before', async () => {
    const { vigil, world, last } = await connected();
    for (const [said, then] of [
      ['awaiting_input', 'working'],
      ['blocked', 'blocked'],
    ] as const) {
      vigil.report({ activity: said });
      await vigil.call({ tool: 'Read' }, () => 1);
      await world.pass(10_000);
      expect(last().activity).toBe(then);
    }
  });
});

describe('calls since the last heartbeat that arrived', () => {
  test('are kept up to a hundred, the newest; the rest is counted', async () => {
    const { vigil, world, way, last } = await connected();
    way.reply = 'is away';
    await world.pass(10_000);
    for (let n = 0; n < 130; n += 1) await vigil.call({ tool: `t${n}` }, () => n);
    way.reply = 'takes';
    await world.pass(20_000);
    const told = way.arrived.flatMap(({ tool_calls }) => tool_calls.map(({ tool }) => tool));
    expect([told.length, told[0], told.at(-1)]).toEqual([100, 't30', 't129']);
    expect(vigil.status).toEqual({ delivered: way.arrived.length, leftOut: 30 });
    expect(last().tool_calls.length).toBeLessThanOrEqual(100);
  });

  test('never lose the end of a call whose start was told: it would be in flight for ever', async () => {
    const { vigil, world, way } = await connected();
    const { promise, resolve } = Promise.withResolvers<string>();
    const running = vigil.call({ tool: 'slow' }, () => promise);
    await world.pass(10_000);
    way.reply = 'is away';
    await world.pass(10_000);
    resolve('done');
    await running;
    for (let n = 0; n < 300; n += 1) await vigil.call({ tool: `t${n}` }, () => n);
    way.reply = 'takes';
    await world.pass(20_000);
    const told = way.arrived.flatMap(({ tool_calls }) => tool_calls);
    expect(told.filter(({ tool }) => tool === 'slow').map(({ outcome }) => outcome)).toEqual(['running', 'ok']);
  });

  test('bring a heartbeat before they are too many', async () => {
    const { vigil, way, world } = await connected();
    for (let n = 0; n < 24; n += 1) await vigil.call({ tool: `t${n}` }, () => n);
    await world.pass(200);
    expect(way.arrived.length).toBe(1);
    for (let n = 0; n < 30; n += 1) await vigil.call({ tool: `u${n}` }, () => n);
    await world.pass(200);
    expect(way.arrived.map(({ tool_calls }) => tool_calls.length)).toEqual([0, 51]);
  });
});

describe('the breaker of its kind', () => {
  const fails = () => Promise.reject(boom());

  test('refuses at once after so many failures in a row, by a typed error, without a call; and is told', async () => {
    const { vigil, world, last } = await connected();
    for (let n = 0; n < 5; n += 1) await vigil.call({ tool: 'Bash' }, fails).catch(() => {});
    let calls = 0;
    const refused = await vigil.call({ tool: 'Read' }, () => ++calls).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BreakerOpen);
    expect(refused).toMatchObject({ breaker: 'tool_execution', nextAttemptAt: world.now() + 30_000 });
    expect(calls).toBe(0);
    await world.pass(200);
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

  test('closes by a trial that succeeds after its time', async () => {
    const { vigil, world, last } = await connected();
    for (let n = 0; n < 5; n += 1) await vigil.call({ tool: 'Bash' }, fails).catch(() => {});
    await world.pass(29_999);
    await expect(vigil.call({ tool: 'Bash' }, () => 1)).rejects.toThrow(BreakerOpen);
    await world.pass(1);
    await expect(vigil.call({ tool: 'Bash' }, () => 1)).resolves.toBe(1);
    await world.pass(200);
    expect(last().breakers).toMatchObject([{ state: 'CLOSED', failures: 0 }]);
  });

  test('does not count rate limits, cancellations, or what another breaker refused', async () => {
    const { vigil } = await connected();
    const others = [boom({ status: 429 }), boom({ name: 'AbortError' }), new BreakerOpen('external_api', null)];
    for (let n = 0; n < 9; n += 1) await vigil.call({ tool: 'x' }, () => Promise.reject(others[n % 3])).catch(() => {});
    await expect(vigil.call({ tool: 'x' }, () => 1)).resolves.toBe(1);
  });

  test('has the limits of the policy that the answer names; what it leaves out is as usual', async () => {
    const { vigil, world, way } = await connected();
    way.document = { breakers: { tool_execution: { failure_threshold: 2, recovery_timeout: '90s' } } };
    way.answer = { intervalMs: null, policy: { name: 'strict', hash: 'h1' } };
    await world.pass(10_000);
    for (let n = 0; n < 2; n += 1) await vigil.call({ tool: 'Bash' }, fails).catch(() => {});
    await expect(vigil.call({ tool: 'Bash' }, () => 1)).rejects.toMatchObject({ nextAttemptAt: world.now() + 90_000 });
    for (let n = 0; n < 2; n += 1) await vigil.call({ tool: 'api', kind: 'external_api' }, fails).catch(() => {});
    await expect(vigil.call({ tool: 'api', kind: 'external_api' }, () => 1)).resolves.toBe(1);
  });

  test('is closed by an order', async () => {
    const { vigil, way } = await connected();
    for (let n = 0; n < 5; n += 1) await vigil.call({ tool: 'Bash' }, fails).catch(() => {});
    way.line?.hear({ kind: 'reset_breaker', name: 'tool_execution' });
    await expect(vigil.call({ tool: 'Bash' }, () => 1)).resolves.toBe(1);
  });
});
