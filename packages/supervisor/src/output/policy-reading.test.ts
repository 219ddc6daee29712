import { expect, test } from 'vitest';
import { defaultPatterns, type PolicyPatterns } from './patterns.ts';
import { readPolicyPatterns } from './policy-patterns.ts';

const policyPatterns = (signals: unknown, more: object = {}) =>
  readPolicyPatterns({ policy: 'p', signals, ...more }).policyPatterns;
const sources = (from: PolicyPatterns) => ({
  rate_limit: from.rate_limit.map(({ source }) => source),
  error: from.error.map(({ source }) => source),
  fatal: from.fatal.map(({ source }) => source),
  completion: from.completion.map(({ source }) => source),
  tailLines: from.tailLines,
});
const usual = {
  rate_limit: defaultPatterns.rate_limit,
  error: [],
  fatal: [],
  completion: ['<promise>COMPLETE</promise>'],
  tailLines: 0,
};

test('a policy that asks for nothing has the usual rate limits and completion signal looked for, and no lines sent', () =>
  expect(sources(policyPatterns({}))).toEqual(usual));

test('every use of a signal counts, under any name, and each pattern once', () => {
  const signals = {
    error_pattern: { patterns: ['boom', 'bang'] },
    also: { is: 'error_pattern', patterns: ['bang', 'crash'] },
    deadly: { is: 'unrecoverable_error', patterns: ['out of disk'], classes: ['x'] },
    rate_limited: { patterns: ['slow down'] },
    done: { is: 'no_completion', after: '10m', signal: 'ALL DONE' },
    no_output: { after: '1m', patterns: ['not mine'] },
  };
  expect(sources(policyPatterns(signals))).toEqual({
    rate_limit: ['slow down'],
    error: ['boom', 'bang', 'crash'],
    fatal: ['out of disk'],
    completion: ['ALL DONE'],
    tailLines: 50,
  });
});

test('a use that names no patterns means the usual ones; an empty list means none', () => {
  expect(sources(policyPatterns({ rate_limited: null, no_completion: { after: '1m' } }))).toEqual(usual);
  expect(sources(policyPatterns({ rate_limited: { patterns: [] } })).rate_limit).toEqual([]);
});

test('case counts in error patterns as written, and not in rate limits and completion signals', () => {
  const { error, rate_limit, completion } = policyPatterns({
    error_pattern: { patterns: ['Boom', '(?i)bang'] },
    rate_limited: { patterns: ['Slow'] },
    no_completion: { signal: 'Done' },
  });
  const hits = [error[0]?.isIn('boom'), error[0]?.isIn('Boom'), error[1]?.isIn('BANG')];
  expect([...hits, rate_limit[0]?.isIn('SLOW'), completion[0]?.isIn('DONE')]).toEqual([false, true, true, true, true]);
});

test.each([
  [{ error_pattern: { patterns: ['x'], lines: 7 } }, {}, 7],
  [
    { error_pattern: { patterns: ['x'], lines: 9 }, u: { is: 'unrecoverable_error', patterns: ['y'], lines: 8 } },
    {},
    9,
  ],
  [{ error_pattern: { patterns: [], lines: 7 } }, {}, 0],
  [{ error_pattern: { patterns: ['x'], lines: 1e9 } }, {}, 50],
  [{ error_pattern: { patterns: ['x'], lines: -1 } }, {}, 50],
  [{}, { ticket: {} }, 20],
  [{}, { ticket: null }, 0],
])('of %j with %j go %s lines with a heartbeat', (signals, more, lines) =>
  expect(policyPatterns(signals, more).tailLines).toBe(lines),
);

test('an invalid pattern is left out with its reason; the others count', () => {
  const { policyPatterns: found, problems } = readPolicyPatterns({
    signals: { error_pattern: { patterns: ['(?=x)', 'good', '', 7, null, 'x'.repeat(1001)] } },
  });
  expect(sources(found).error).toEqual(['good']);
  expect(problems).toHaveLength(5);
  expect(problems[0]).toMatch(/^signals\.error_pattern\.patterns: "\(\?=x\)" is not an RE2 pattern/);
});

test('of too many patterns the first hundred count, and few of the others are named', () => {
  const { policyPatterns: found, problems } = readPolicyPatterns({
    signals: { error_pattern: { patterns: Array.from({ length: 5000 }, (_, i) => `p${i}`) } },
  });
  expect([found.error.length, problems.length]).toEqual([100, 20]);
});

test.each([
  null,
  undefined,
  7,
  'text',
  [],
  { signals: [] },
  { signals: 'x' },
  { signals: { error_pattern: [] } },
  { signals: { x: { is: { a: 1 } } } },
  { signals: { rate_limited: 'x', __proto__: { patterns: 1 } } },
])('%j is a document that asks for nothing', (document) =>
  expect(sources(readPolicyPatterns(document).policyPatterns)).toEqual(usual),
);

test.each([
  { signals: { error_pattern: { patterns: { a: 'b' } } } },
  { signals: { no_completion: { signal: 7 }, rate_limited: { patterns: 'x('.repeat(400) } } },
  { signals: { error_pattern: { patterns: ['((a{1000}){1000}){1000}'] } } },
])('%j is survived, with a reason', (document) => expect(readPolicyPatterns(document).problems).not.toEqual([]));
