import { describe, expect, test } from 'vitest';
import { connected } from '../fixture.ts';
import { hashes } from './hashes.ts';

const boom = (more: object = {}) => Object.assign(new Error('boom 7'), more);

describe('a wrapped call', () => {
  test('returns what the call returns, and throws the very error that it throws', async () => {
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

  test('is reported with everything that evaluation reads, and without its content', async () => {
    const { vigil, system, last } = await connected();
    const began = system.now();
    const args = { path: 'secret.ts' };
    const traits = { mutating: true, polling: true, checking: true } as const;
    const call = { tool: 'Edit', args, ...traits, target: 'secret', deadlineMs: 5000 } as const;
    const result = 'secret 5';
    await vigil.call(call, async () => {
      await system.pass(300);
      return result;
    });
    await system.pass(10_000);
    const { args_hash } = hashes({ args, failed: false, endedAt: null });
    expect(last().tool_calls).toEqual([
      {
        call_id: 'run-1-1',
        kind: 'tool',
        tool: 'Edit',
        ...hashes({ args, result, failed: false, endedAt: null }),
        args_hash,
        outcome: 'ok',
        error_class: null,
        started_at: began,
        ended_at: began + 300,
        deadline_at: began + 5000,
        ...traits,
        target: 'secret',
      },
    ]);
    expect(last().last_tool_call).toBe(began + 300);
    expect(JSON.stringify({ ...last(), tool_calls: [{ ...last().tool_calls[0], target: null }] })).not.toContain(
      'secret',
    );
  });

  test('is in flight, with its deadline, until it ends; then it is reported as ended, under the same id', async () => {
    const { vigil, system, last } = await connected();
    const { promise, resolve } = Promise.withResolvers<string>();
    const running = vigil.call({ tool: 'Bash', deadlineMs: 60_000 }, () => promise);
    await system.pass(10_000);
    expect(last().tool_calls).toMatchObject([
      { call_id: 'run-1-1', outcome: 'running', deadline_at: expect.any(Number) },
    ]);
    await system.pass(10_000);
    expect(last().tool_calls).toEqual([]);
    resolve('done');
    await running;
    await system.pass(10_000);
    expect(last().tool_calls).toMatchObject([{ call_id: 'run-1-1', outcome: 'ok' }]);
  });

  test('that fails has the class of its error, whichever code threw it, and counts as an error', async () => {
    const { vigil, system, last } = await connected();
    const errors = [
      boom({ code: 'ENOENT' }),
      boom(),
      boom({ status: 429 }),
      boom({ name: 'TimeoutError' }),
      boom({ name: 'AbortError' }),
    ];
    for (const error of [...errors, 'text', null])
      await vigil.call({ tool: 'Read', kind: 'model' }, () => Promise.reject(error)).catch(() => {});
    await system.pass(10_000);
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

  test('whose result is an error is reported as an error; when `errorIn` throws, the call counts as a success that has ended', async () => {
    const { vigil, system, last, problems } = await connected();
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
    await system.pass(10_000);
    expect(last().tool_calls.map(({ outcome, error_class }) => [outcome, error_class])).toEqual([
      ['error', 'exit_2'],
      ['ok', null],
      ['ok', null],
    ]);
    expect(problems).toEqual([expect.stringContaining('boom')]);
  });

  test('is hashed with the arguments that it has at its start', async () => {
    const { vigil, system, last } = await connected();
    const args = { n: 1 };
    await vigil.call({ tool: 'x', args }, () => {
      args.n = 2;
    });
    await system.pass(10_000);
    expect(last().tool_calls[0]?.args_hash).toBe(hashes({ args: { n: 1 }, failed: false, endedAt: null }).args_hash);
  });

  test('ends waiting: an agent that waited for input is working when it calls, a blocked agent stays blocked', async () => {
    const { vigil, system, last } = await connected();
    for (const [before, then] of [
      ['awaiting_input', 'working'],
      ['blocked', 'blocked'],
    ] as const) {
      vigil.report({ activity: before });
      await vigil.call({ tool: 'Read' }, () => 1);
      await system.pass(10_000);
      expect(last().activity).toBe(then);
    }
  });
});
