import { describe, expect, test } from 'vitest';
import { FLAGGED, judged, type Made, times } from './values.fixture.ts';

/** A whole number from 0 to `below`, the same for the same seed. */
type Chance = (below: number) => number;

const chanceOf = (seed: number): Chance => {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};
const letters = (chance: Chance, n: number, from: string): string => times(n, () => from[chance(from.length)]).join('');
const hex = (chance: Chance, n: number): string => letters(chance, n, '0123456789abcdef');
const two = (n: number): string => String(n).padStart(2, '0');
const uuid = (chance: Chance): string =>
  `${hex(chance, 8)}-${hex(chance, 4)}-4${hex(chance, 3)}-8${hex(chance, 3)}-${hex(chance, 12)}`;
const clock = (chance: Chance): string => `${two(chance(24))}:${two(chance(60))}:${two(chance(60))}`;

/** What differs in each answer although nothing has changed. */
const NOISE: readonly ((chance: Chance) => string)[] = [
  () => '',
  (chance) => `2026-11-${two(10 + chance(19))}T${clock(chance)}.${chance(900) + 100}+0${chance(9)}:00`,
  (chance) => `Thu, 26 Nov 2026 ${clock(chance)} +0000`,
  (chance) => `timestamp=${1_790_000_000 + chance(9_000_000)}`,
  (chance) => `${1_790_000_000_000 + chance(9_000_000_000)} ready`,
  (chance) => `in ${chance(9)}.${10 + chance(80)}s`,
  (chance) => `took ${chance(999)} ms`,
  (chance) => `id ${uuid(chance)}`,
  (chance) => `id 01${letters(chance, 24, '0123456789ABCDEFGHJKMNPQRSTVWXYZ')}`,
  (chance) => `trace ${hex(chance, 15)}a1`,
  (chance) => `pid ${1000 + chance(60_000)}`,
  (chance) => `http://localhost:${1024 + chance(60_000)}/`,
  (chance) => `/tmp/tmp.${letters(chance, 10, 'ABCDEFGHabcdefgh0123456789')}/log`,
  (chance) => `commit ${hex(chance, 40)}`,
];

const PERIODS = times(12, (i) => i + 1);

describe.each(PERIODS)('hard loops of period %i', (period) => {
  test('are found by the fifth repetition, with any noise in their answers and descriptions', () => {
    for (const [i, noise] of NOISE.entries()) {
      const chance = chanceOf(100 * period + i);
      const err = i % 3 === 1;
      const calls = times(5 * period, (n) => {
        const [k, mutating] = [n % period, i % 2 === 1 && n % period === 0];
        const args = { command: `step ${k}`, description: `try ${n}` };
        return {
          tool: mutating ? 'Edit' : 'Bash',
          args,
          result: `answer ${'abcdefghijkl'[k]} ${noise(chance)}`,
          err,
          mutating,
        };
      });
      expect(FLAGGED, `noise ${noise(chance)}`).toContain(judged('vigil', calls).worst);
    }
  });
});

test('two to four calls in any order, with the same answers, are found under each of vigil and coditect', () => {
  for (let seed = 0; seed < 180; seed++) {
    const chance = chanceOf(seed);
    const different = 2 + (seed % 3);
    const calls = times(40, () => {
      const k = chance(different);
      return { tool: k === 3 ? 'Read' : 'Bash', args: `step ${k}`, result: `answer ${'abcd'[k]}` };
    });
    expect(FLAGGED, `vigil, seed ${seed}`).toContain(judged('vigil', calls).worst);
    expect(FLAGGED, `coditect, seed ${seed}`).toContain(judged('coditect', calls).worst);
  }
});

test('eleven calls in rotation that bring nothing new are not STUCK, twelve are', () => {
  const order = [...'abcdabdcacbdbadc'];
  const calls = (n: number) => order.slice(0, n).map((k) => ({ tool: 'Bash', args: k, result: k }));
  expect(judged('coditect', calls(15)).worst).not.toBe('STUCK');
  expect(judged('coditect', calls(16)).worst).toBe('STUCK');
});

const bash = (command: string, result: unknown, more: Partial<Made> = {}): Made => ({
  tool: 'Bash',
  args: { command },
  result,
  ...more,
});

/** Work that repeats calls and makes progress. */
const PRODUCTIVE: Readonly<Record<string, (chance: Chance) => readonly Made[]>> = {
  'a training log': (chance) =>
    times(60, (i) =>
      bash('tail -1 train.log', `epoch ${i + 1}/60 loss ${(2 / (i + 1 + chance(2) / 10)).toFixed(3)} 12.${chance(9)}s`),
    ),
  'a progress bar': (chance) =>
    times(40, (i) => bash('status', `[${'#'.repeat(i)}${'.'.repeat(40 - i)}] ${i * 2 + chance(2)}%`)),
  'failing tests that shrink, with an edit between': (chance) =>
    times(12, (i) => [
      {
        tool: 'Edit',
        args: { file_path: 'a.ts', old_string: `x${i}`, new_string: `y${chance(99)}` },
        result: 'done',
        mutating: true,
      },
      bash('npx jest --json', JSON.stringify({ numFailedTests: 30 - 2 * i, startTime: 1_790_000_000_000 + i }), {
        err: i % 2 === 0,
      }),
    ]).flat(),
  'errors of a linter that shrink': (chance) => {
    let left = 200;
    return times(20, () => {
      left -= 1 + chance(5);
      return bash('npx eslint .', `✖ ${left} problems (${left} errors, 0 warnings)`);
    });
  },
  'pages with a cursor': (chance) =>
    times(30, () => ({ tool: 'list_items', args: { limit: 50 }, result: { items: 50, next_cursor: uuid(chance) } })),
  'pages with a token, as text': (chance) =>
    times(30, () => bash('next page', JSON.stringify({ count: 50, nextPageToken: hex(chance, 12) }))),
  'the newest item of a list': (chance) =>
    times(20, () => ({ tool: 'list_orders', args: { limit: 1 }, result: [{ id: uuid(chance), state: 'new' }] })),
  'a build that is polled': (chance) =>
    times(60, () => bash('sleep 30; gh run view 12', `in progress ${clock(chance)}`, { polling: true })),
  'a build that is looked at after each pause': () =>
    times(30, () => [bash('sleep 60', '', { polling: true }), bash('gh run view 12', 'in progress')]).flat(),
  'a retry after growing pauses': (chance) =>
    times(10, (i) => bash(`sleep ${2 ** i}; curl localhost:8080`, `refused after ${chance(9)} ms`, { polling: true })),
  'a bisection': (chance) =>
    times(12, (i) => [
      bash('npm test', i % 2 === 0 ? '1 failed' : '12 passed', { err: i % 2 === 0 }),
      bash(
        i % 2 === 0 ? 'git bisect bad' : 'git bisect good',
        `Bisecting: ${Math.floor(4000 / 2 ** i)} revisions left to test\n[${hex(chance, 40)}] change ${i}`,
      ),
    ]).flat(),
  'a migration in batches': (chance) =>
    times(30, (i) => bash('./migrate.sh', `wrote /tmp/out/part-${i}.csv in ${chance(9)}.2s`)),
  'files that are read one after another': (chance) =>
    times(40, (i) => ({ tool: 'Read', args: { file_path: `src/${i}.ts` }, result: `export const x = ${chance(9)}` })),
  'edits of one file, each followed by the same check': (chance) =>
    times(25, (i) => [
      { tool: 'Edit', args: { file_path: 'a.ts', new_string: `${i} ${chance(99)}` }, result: 'done', mutating: true },
      bash('tsc --noEmit', ''),
    ]).flat(),
};

test.each(Object.entries(PRODUCTIVE))('%s is never flagged, by vigil or coditect', (_, make) => {
  for (let seed = 0; seed < 10; seed++) {
    for (const preset of ['vigil', 'coditect'] as const) {
      const { changes } = judged(preset, make(chanceOf(seed)));
      expect(
        changes.filter(({ to }) => FLAGGED.includes(to)),
        `${preset}, seed ${seed}`,
      ).toEqual([]);
    }
  }
});
