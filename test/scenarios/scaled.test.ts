import { VOCABULARY } from '@vigil/health';
import { loadPolicy } from '@vigil/policy';
import { expect, test } from 'vitest';
import { scaled } from './scaled.ts';

const policyOf = (...expected: Parameters<typeof scaled>) => loadPolicy(scaled(...expected), 'scaled', VOCABULARY);

test('a scaled preset has the steps of its preset, only sooner', () => {
  const steps = policyOf('coditect', 100).plans.at(-1)?.steps;
  expect(steps?.map(({ step }) => step)).toEqual(['nudge', 'escalate', 'terminate', 'recover']);
  expect(steps?.[0]).toMatchObject({ attempts: 3, intervalMs: 6000, message: expect.stringContaining('REMINDER') });
  expect(steps?.[1]).toMatchObject({ timeoutMs: 9000 });
  expect(policyOf('gascity', 30).plans[0]?.steps[0]).toMatchObject({ waitsMs: [2000, 4000, 8000] });
});

test("a user's addition is kept beside the existing entries", () => {
  const city = policyOf('gascity', 30, { enabled: true, signals: { error_pattern: { patterns: ['API'] } } });
  expect(city.enabled).toBe(true);
  expect(city.uses.map(({ name }) => name)).toEqual(['error_pattern', 'no_work_update', 'progress_mismatch']);
});
