import { hashes } from '@vigil/sdk/hashes';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { presetsWith } from '../fixture.ts';
import { runJudge } from '../recorded/judge.ts';
import { readRun } from '../recorded/run.ts';

type Made = { readonly tool: string; readonly args: unknown; readonly result: string; readonly err?: boolean };
type Flagged = Made & { readonly mutating?: boolean };

const vigil = presetsWith('vigil').all.find(({ name }) => name === 'vigil')!;
const judge = runJudge(vigil, hashes, 5_000);
const judged = (calls: readonly Flagged[]) => judge(readRun(JSON.stringify({ run_id: 'r', calls })));
const times = <T>(n: number, one: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => one(i));

/** Repetitions that make progress: each answers with other figures. */
const PRODUCTIVE: Readonly<Record<string, readonly Flagged[]>> = {
  'a training log': times(40, (i) => ({
    tool: 'Bash',
    args: 'tail -1 train.log',
    result: `epoch ${i + 1}/50 loss ${(0.91 * 0.97 ** i).toFixed(2)}, 41.2 s`,
  })),
  'a progress bar': times(40, (i) => ({ tool: 'Bash', args: 'status', result: `${i * 2} % [${'#'.repeat(i)}]` })),
  'a percentage': times(40, (i) => ({ tool: 'Bash', args: 'status', result: `${i} % done` })),
  'a growing file': times(40, (i) => ({ tool: 'Bash', args: 'wc -l out.csv', result: `${i * 120} out.csv` })),
  'fewer failing tests': times(9, (i) => ({
    tool: 'Bash',
    args: 'npm test',
    result: `${9 - i} failed, ${i} passed in 3.${i} s`,
  })),
  'fewer failing tests, as failures': times(8, (i) => ({
    tool: 'Bash',
    args: 'npm test',
    result: `${9 - i} failed, ${i} passed`,
    err: true,
  })),
  'pages of one command': times(30, (i) => ({ tool: 'next_page', args: {}, result: `page ${i + 1} of 30: ${i * 7}` })),
  'a countdown': times(30, (i) => ({ tool: 'Bash', args: 'queue', result: `${30 - i} jobs left` })),
  'a counter in JSON': times(30, (i) => ({ tool: 'count', args: {}, result: JSON.stringify({ rows: i * 3 }) })),
  'a download': times(30, (i) => ({ tool: 'Bash', args: 'ls -s f', result: `${i * 512}K f` })),
  'falling errors of a compiler': times(8, (i) => ({
    tool: 'Bash',
    args: 'tsc',
    result: `Found ${80 - i * 9} errors`,
    err: true,
  })),
};

/** One call a test, made nine or twelve times, whose answers bring something new only in what looks volatile. */
const ANSWERS: Readonly<Record<string, { readonly failed?: boolean; readonly result: (i: number) => string }>> = {
  'shrinking failures of jest': { failed: true, result: (i) => `{"numFailedTests":${20 - i},"success":false}` },
  'shrinking errors of eslint': { failed: true, result: (i) => `[{"filePath":"/a.ts","errorCount":${20 - i}}]` },
  'shrinking failures after a colon': { failed: true, result: (i) => `failures:${20 - i}` },
  'processes of many': { result: (i) => `process ${i + 3} of 40 done` },
  'a file of more than a gigabyte': { result: (i) => `${1_600_000_000 + i * 30_000_000} out.bin` },
  'a bare size of more than a gigabyte': { result: (i) => `${1_600_000_000 + i * 30_000_000}` },
  'a falling estimate': { result: (i) => `ETA ${300 - i * 10} s` },
  'a falling time left': { result: (i) => `0:0${9 - (i % 10)}:${20 + i} remaining` },
  'dates that rise': { result: (i) => `processed up to 2024-01-${10 + i}` },
  'pages with another cursor': {
    result: (i) => JSON.stringify({ items: 50, next_cursor: `${i + 10}1b2c3d-4e5f-4a6b-8c7d-0a1b2c3d4e${i + 10}` }),
  },
};

test.each(Object.entries(ANSWERS))('%s, nine or twelve times, is DEGRADED at most', (_, { failed, result }) => {
  for (const n of [9, 12]) {
    const calls = times(n, (i) => ({ tool: 'Bash', args: 'again', result: result(i), err: failed ?? false }));
    expect(['HEALTHY', 'DEGRADED']).toContain(judged(calls).worst);
  }
});

test.each(Object.entries(PRODUCTIVE))('%s is not a loop: DEGRADED at most', (_, calls) => {
  expect(['HEALTHY', 'DEGRADED']).toContain(judged(calls).worst);
});

/** Answers that bring nothing new, although their text differs. */
const VARYING: Readonly<Record<string, readonly Flagged[]>> = {
  'the time': times(5, (i) => ({ tool: 'Bash', args: 'make', result: `2026-11-26T07:00:0${i}Z nothing to do` })),
  'a duration': times(5, (i) => ({ tool: 'Bash', args: 'npm test', result: `1 failed in ${i}.3 s` })),
  'a process id': times(5, (i) => ({ tool: 'Bash', args: 'run', result: `pid ${4700 + i} exited`, err: true })),
  'a port': times(5, (i) => ({ tool: 'Bash', args: 'run', result: `refused by 127.0.0.1:${4700 + i}`, err: true })),
  'a line number': times(5, (i) => ({ tool: 'Bash', args: 'tsc', result: `a.ts:${i + 9}:2 broken`, err: true })),
  'a temporary name': times(5, (i) => ({ tool: 'Bash', args: 'run', result: `wrote /tmp/run-${i}x/out` })),
};

test.each(Object.entries(VARYING))('%s does not hide a loop: five are STUCK, four are not', (_, calls) => {
  expect(judged(calls.slice(1)).worst).not.toBe('STUCK');
  expect(judged(calls).worst).toBe('STUCK');
});

describe.each([false, true])('hard loops, edits declared mutating: %s', (mutating) => {
  test('of any period up to twelve are found by the fifth repetition', () => {
    const word = fc.string({ minLength: 1, maxLength: 12 });
    const step = fc.record({
      tool: fc.constantFrom('Bash', 'Edit', 'Read'),
      args: word,
      result: word,
      err: fc.boolean(),
    });
    const loop = fc.uniqueArray(step, { minLength: 1, maxLength: 12, selector: ({ tool, args }) => `${tool} ${args}` });
    const work = fc.array(step, { maxLength: 10 });
    fc.assert(
      fc.property(work, loop, (before, period) => {
        const calls = [...before, ...times(5, () => period).flat()];
        const flagged = calls.map((one) => ({ ...one, mutating: mutating && one.tool === 'Edit' }));
        expect(['STUCK', 'FAILING']).toContain(judged(flagged).worst);
      }),
    );
  });
});

test('one answer to many questions is DEGRADED from the 24th on, and an answer that differs ends it', () => {
  const searches = (n: number) => times(n, (i) => ({ tool: 'grep', args: `needle ${i}`, result: 'no output' }));
  expect(judged(searches(23)).worst).toBe('HEALTHY');
  expect(judged(searches(43)).worst).toBe('DEGRADED');
  expect(judged([...searches(43), { tool: 'grep', args: 'x', result: 'x.ts' }]).changes.at(-1)?.to).toBe('HEALTHY');
});

test('one call again and again without a known result is DEGRADED from the twelfth on', () => {
  const calls = (n: number) => times(n, () => ({ tool: 'Bash', args: 'make' })) as unknown as readonly Flagged[];
  expect(judged(calls(11)).worst).toBe('HEALTHY');
  expect(judged(calls(100)).worst).toBe('DEGRADED');
});

test('writes of more than a mebibyte are compared', () => {
  const write = { tool: 'Write', args: { path: 'a', content: 'x'.repeat(1_100_000) }, result: 'written' };
  expect(judged(times(20, () => ({ ...write, mutating: true }))).worst).toBe('FAILING');
});
