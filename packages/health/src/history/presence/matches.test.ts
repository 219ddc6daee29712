import { loadPolicy } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { expect, test } from 'vitest';
import { type HeartbeatPayload, history, judgedAt, T0 } from '../../fixture.ts';
import { rulesOf } from '../../judgement/rules.ts';
import { VOCABULARY } from '../../vocabulary.ts';
import { MATCHES } from './matches.ts';

const LATE = judgedAt(T0 + 86_400_000);
const output = (
  lines: number,
  tail: readonly string[],
  reported: readonly string[] = [],
): Partial<HeartbeatPayload> => ({
  output: {
    ...{ last_output_at: null, shown_errors: [], repeated_error: null, result_at: null, completion_signal_at: null },
    lines,
    tail: [...tail],
    matched_patterns: reported.map((source) => ({ kind: 'error', source, at: T0, line: null })),
  },
});
const many = Array.from({ length: 3 * MATCHES }, (_, i) => `error ${i} `);

/** The rules that fire under a policy with one fatal word, and more common words than are stored. */
const firing = (heartbeats: readonly (readonly [number, Partial<HeartbeatPayload>])[]): readonly string[] => {
  const rules = rulesOf(
    loadPolicy(
      `policy: test
signals:
  fatal: { is: unrecoverable_error, patterns: ["disk full"], lines: 500 }
  common: { is: error_pattern, patterns: ${JSON.stringify(many)}, lines: 50 }
  rare: { is: error_pattern, patterns: ["segfault", "core dumped"], lines: 200 }
states: { FAILING: [fatal], STUCK: [common], DEGRADED: [rare] }`,
      'test.yaml',
      VOCABULARY,
    ),
  );
  const after = history(heartbeats, rules.lookedFor);
  expect(after.matches.seen.length).toBeLessThanOrEqual(MATCHES);
  return rules.rules
    .filter(({ signal, limits }) => signal.firesFrom(after, limits, LATE) < NEVER)
    .map(({ name }) => name);
};
const floodFrom = (line: number): readonly (readonly [number, Partial<HeartbeatPayload>])[] =>
  many.map((word, i) => [1000 + i, output(line + i, [word])] as const);

test('a rule’s finding holds even if more patterns of other rules have matched since than are stored', () => {
  const seen = [0, output(2, ['disk full', 'segfault'])] as const;
  expect(firing([seen, ...floodFrom(3)])).toEqual(['common', 'fatal', 'rare']);
});

test('and ends with its own lines, exactly', () => {
  const seen = [0, output(2, ['disk full', 'segfault'])] as const;
  const flood = floodFrom(3);
  const until = (lines: number) => firing([seen, ...flood, [9000, output(lines, [])]]);
  expect(until(2 + 199)).toContain('rare');
  expect(until(2 + 200)).not.toContain('rare');
  expect(until(1 + 499)).toEqual(['fatal']);
  expect(until(1 + 500)).toEqual([]);
});

test('of one rule’s many patterns, the match that holds longest is kept', () => {
  const flood = floodFrom(1);
  const last = flood.length;
  expect(firing([...flood, [9000, output(last + 49, [])]])).toEqual(['common']);
  expect(firing([...flood, [9000, output(last + 50, [])]])).toEqual([]);
});

test('a reported match of no rule displaces no other match', () => {
  const strange = Array.from({ length: 3 * MATCHES }, (_, i) => `strange ${i}`);
  expect(
    firing([
      [0, output(1, ['disk full'])],
      [1000, output(2, [], strange)],
    ]),
  ).toEqual(['fatal']);
});
