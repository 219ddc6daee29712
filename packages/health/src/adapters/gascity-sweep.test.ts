import { loadPolicy } from '@vigil/policy';
import { describe, expect, test } from 'vitest';
import { presetsWith } from '../fixture.ts';
import { VOCABULARY } from '../vocabulary.ts';
import { sweepOf } from './gascity-sweep.ts';

const presetOf = (name: string) => presetsWith(name).rules({ name, hash: '' }).policy;
const policy = (more: object) =>
  loadPolicy(
    JSON.stringify({
      policy: 'mine',
      signals: {
        no_work_update: { after: '10m' },
        progress_mismatch: { after: '10m' },
        error_pattern: { patterns: [] },
      },
      ...more,
    }),
    'mine.yaml',
    VOCABULARY,
  );
const REGEX = 'no_work_update + error_pattern';
const MISMATCH = 'no_work_update + progress_mismatch';

describe('the stuck sweep of gascity', () => {
  test('of its preset is disabled until it is enabled, with its threshold, its label and the axes that would be active', () => {
    expect(sweepOf(presetOf('gascity'))).toEqual({
      policy: 'gascity',
      state: 'disabled',
      thresholdMs: 600_000,
      label: 'pool:dog',
      patterns: 0,
      progressMismatch: true,
    });
  });

  test('without patterns has no regex axis, and is still enabled by progress mismatch', () => {
    const found = sweepOf(policy({ states: { STUCK: [REGEX, MISMATCH] }, warrant: { label: 'pool:cat' } }));
    expect(found).toMatchObject({ state: 'enabled', patterns: 0, progressMismatch: true, label: 'pool:cat' });
  });

  test('with patterns has the regex axis, alone or beside the other', () => {
    const signals = { no_work_update: { after: '3m' }, error_pattern: { patterns: ['API Error: 4\\d\\d', 'wedged'] } };
    expect(sweepOf(policy({ signals, states: { STUCK: [REGEX] } }))).toMatchObject({
      state: 'enabled',
      thresholdMs: 180_000,
      patterns: 2,
      progressMismatch: false,
    });
  });

  test('that is enabled and cannot find anything is misconfigured', () => {
    expect(sweepOf(policy({ states: { STUCK: [REGEX] } }))).toMatchObject({ state: 'misconfigured', patterns: 0 });
    expect(sweepOf(policy({ states: { STUCK: [REGEX] }, enabled: false }))).toMatchObject({ state: 'disabled' });
  });

  test('is none where no state needs stale work and another axis', () => {
    expect(sweepOf(presetOf('omniclaude'))).toBeNull();
    expect(sweepOf(policy({ states: { STUCK: ['no_work_update', 'progress_mismatch'] } }))).toBeNull();
  });
});
