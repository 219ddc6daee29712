import { CorrectThePolicy, loadPolicy } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { brief, type HeartbeatPayload, heartbeat, history, judgedAt, policyOf, T0 } from '../fixture.ts';
import { VOCABULARY } from '../vocabulary.ts';
import { SIGNALS } from './all.ts';
import { errorPattern, RATE_LIMIT_PATTERNS, unrecoverableError } from './patterns.ts';

type Reported = readonly [ms: number, more: Partial<HeartbeatPayload>];
type Output = NonNullable<HeartbeatPayload['output']>;

const LATE = judgedAt(T0 + 86_400_000);
const output = (more: Partial<Output>): Partial<HeartbeatPayload> => ({
  output: {
    ...{
      last_output_at: null,
      lines: null,
      matched_patterns: [],
      shown_errors: [],
      repeated_error: null,
      result_at: null,
    },
    ...{ completion_signal_at: null, tail: [] },
    ...more,
  },
});
const fires = (signal: typeof errorPattern, written: object, reported: readonly Reported[]) => {
  const limits = signal.limits.parse(written) as never;
  return signal.firesFrom(history(reported, { others: signal.patterns?.(limits) ?? [] }), limits, LATE) < NEVER;
};
const broken = { patterns: ['ids (\\d+) must'], lines: 50 };
const matched = { kind: 'error', source: 'ids (\\d+) must', at: T0, line: null };

test('a match holds while its line is within the last lines, and not one line longer', () => {
  const seen: Reported = [0, output({ lines: 100, matched_patterns: [matched] })];
  expect(fires(errorPattern, broken, [seen, [1000, output({ lines: 149 })]])).toBe(true);
  expect(fires(errorPattern, broken, [seen, [1000, output({ lines: 150 })]])).toBe(false);
});

test('a match belongs to its own line, and not to the line count of its heartbeat', () => {
  const seen = (line: number): Reported => [0, output({ lines: 100, matched_patterns: [{ ...matched, line }] })];
  expect(fires(errorPattern, broken, [seen(51)])).toBe(true);
  expect(fires(errorPattern, broken, [seen(50)])).toBe(false);
});

test('at most the last 2,000 lines are searched', () => {
  expect(errorPattern.limits.safeParse({ ...broken, lines: 2000 }).success).toBe(true);
  expect(errorPattern.limits.safeParse({ ...broken, lines: 2001 }).success).toBe(false);
});

test('without a count of lines, a match holds until there is progress', () => {
  const seen: Reported = [1000, output({ matched_patterns: [{ ...matched, at: T0 + 1000 }] })];
  expect(fires(errorPattern, broken, [[0, {}], seen, [2000, {}]])).toBe(true);
  expect(fires(errorPattern, broken, [[0, {}], seen, [2000, { phase: 'another' }]])).toBe(false);
});

test('the reported end of the output is searched line by line', () => {
  const tail = ['ok', 'error: ids 17 must be unique', 'ok'];
  expect(fires(errorPattern, broken, [[0, output({ lines: 3, tail })]])).toBe(true);
  expect(fires(errorPattern, broken, [[0, output({ lines: 3, tail: ['ids must'] })]])).toBe(false);
  expect(
    fires(errorPattern, broken, [
      [0, output({ lines: 3, tail })],
      [1000, output({ lines: 51 })],
    ]),
  ).toBe(true);
  expect(
    fires(errorPattern, broken, [
      [0, output({ lines: 3, tail })],
      [1000, output({ lines: 52 })],
    ]),
  ).toBe(false);
});

test('an empty list of patterns switches off this signal only', () => {
  expect(fires(errorPattern, { patterns: [] }, [[0, output({ lines: 3, matched_patterns: [matched] })]])).toBe(false);
});

test('a match of another policy’s pattern does not count', () => {
  expect(fires(errorPattern, { patterns: ['ids'] }, [[0, output({ lines: 3, matched_patterns: [matched] })]])).toBe(
    false,
  );
});

test('an invalid pattern is a mistake of the policy, with its place and reason', () => {
  const policy = (signals: string) => `policy: p\nsignals:\n  ${signals}\nstates: {}\n`;
  const load = (signals: string) => () => loadPolicy(policy(signals), 'p.yaml', VOCABULARY);
  expect(load('error_pattern: { patterns: ["fine", "(open", "a(?=b)"] }')).toThrow(CorrectThePolicy);
  expect(load('error_pattern: { patterns: ["fine", "(open"] }')).toThrow(
    /signals\.error_pattern\.patterns\[1\]: "\(open" is not an RE2 pattern \(.+\): correct or remove it/,
  );
  expect(load('rate_limited: { patterns: ["[a"] }')).toThrow(
    /signals\.rate_limited\.patterns\[0\]: "\[a" is not an RE2/,
  );
  expect(load('unrecoverable_error: { patterns: ["*"] }')).toThrow(/signals\.unrecoverable_error\.patterns\[0\]/);
});

test('an error is fatal by its class, or by a pattern in its text or in the output', () => {
  const error = (more: object): Partial<HeartbeatPayload> => ({
    errors: [{ ...{ at: T0, count: 1, error_class: null, hash: null, message: null }, ...more }],
  });
  const fatal = { classes: ['auth_expired'], patterns: ['(?i)please log in'] };
  expect(fires(unrecoverableError, fatal, [[0, error({ error_class: 'auth_expired' })]])).toBe(true);
  expect(fires(unrecoverableError, fatal, [[0, error({ error_class: 'auth' })]])).toBe(false);
  expect(fires(unrecoverableError, fatal, [[0, error({ message: 'Please log in again' })]])).toBe(true);
  expect(fires(unrecoverableError, fatal, [[0, output({ lines: 1, tail: ['> please log in'] })]])).toBe(true);
  expect(fires(unrecoverableError, {}, [[0, error({ error_class: 'auth_expired' })]])).toBe(false);
});

const isRateLimit = (text: string) => RATE_LIMIT_PATTERNS.some((pattern) => pattern.isIn(text));

test.each([
  'Rate limit exceeded',
  'rate_limit_error',
  'HTTP 429',
  'status: 429',
  'Error code: 429 -',
  'overloaded_error',
  'Overloaded',
  '429 Too Many Requests',
])('a rate limit: %s', (text) => expect(isRateLimit(text)).toBe(true));

test.each([
  '429',
  'took 429 ms',
  'a moderate limit',
  'accurate',
  'generate limits',
  'line 429: ok',
  'error on line 429',
  'code 4290',
  'overloadedness',
  'operator overloading',
])('no rate limit: %s', (text) => expect(isRateLimit(text)).toBe(false));

const limited = (reported: readonly Reported[]) =>
  SIGNALS.rate_limited.firesFrom(
    history(reported),
    SIGNALS.rate_limited.limits.parse({}) as never,
    judgedAt(T0 + 2000),
  ) < NEVER;

test('a rate limit is found in the output and in errors, and is over unless it is repeated', () => {
  expect(limited([[0, output({ lines: 1, tail: ['HTTP 429'] })]])).toBe(true);
  expect(limited([[0, output({ lines: 1, tail: ['took 429 ms'] })]])).toBe(false);
  const message = { at: T0, count: 1, error_class: null, hash: null, message: 'overloaded_error' };
  expect(limited([[0, { errors: [message] }]])).toBe(true);
  const again: Reported = [1500, output({ lines: 2, tail: ['HTTP 429', 'going on'] })];
  expect(history([[0, output({ lines: 1, tail: ['HTTP 429'] })], again]).rateLimit?.at).toBe(T0);
});

test('a rate limit in a text exempts, even under a policy that does not name the signal', () => {
  const policies = policyOf(
    'policy: p\nsignals:\n  self_reported_stuck: {}\nstates: {}\nexemptions: { idle: false }\n',
  );
  const agent = given(agentHealth(policies), T0);
  agent.receive(heartbeat(0, output({ lines: 1, tail: ['rate limit reached'] })), T0);
  expect(brief(agent.all())).toContain('exempt: rate_limited');
});
